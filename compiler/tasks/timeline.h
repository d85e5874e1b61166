// Timeline: the idle gaps of one queue, or of one slot of a link, in order. They lie in blocks, so that a gap
// among hundreds of thousands is found and changed in little time.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace dfc {

class Timeline {
 public:
  /// The earliest start, not before `ready`, in a gap that holds `seconds`; the last gap has no end. Of the
  /// gaps that could hold it a limited number is tried, then the last: with tens of thousands of short gaps,
  /// trying all of them for each task would take quadratic time.
  double earliestStart(double ready, double seconds);
  /// The range must lie in one gap.
  void occupy(double start, double end);
  /// Frees a range that was occupied.
  void release(double start, double end);
  void clear();

 private:
  struct Gap {
    double start, end;
  };
  using Block = std::vector<Gap>; // never empty
  struct Place {
    size_t block, gap;
  };
  size_t blockEndingFrom(double time) const;
  Place firstEndingFrom(double time) const;
  Place holding(double start, double end) const;
  void insert(Place place, Gap gap);
  void erase(Place place);

  std::vector<Block> blocks_{{{0, std::numeric_limits<double>::infinity()}}};
  Place found_{0, 0}; ///< by the last search: what is occupied next lies there as a rule
  std::vector<double> ends_{std::numeric_limits<double>::infinity()}; ///< by block: of its last gap
};

} // namespace dfc
