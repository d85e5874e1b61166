// Timeline: the idle gaps of one queue, or of one slot of a link, in order.
#pragma once

#include <limits>
#include <vector>

namespace dfc {

class Timeline {
 public:
  /// The earliest start, not before `ready`, in a gap that holds `seconds`; the last gap has no end. Of the
  /// gaps that could hold it a limited number is tried, then the last: with tens of thousands of short gaps,
  /// trying all of them for each task would take quadratic time.
  double earliestStart(double ready, double seconds) const;
  /// The range must lie in one gap.
  void occupy(double start, double end);
  /// Frees a range that was occupied.
  void release(double start, double end);
  void clear();

 private:
  struct Gap {
    double start, end;
  };
  std::vector<Gap> gaps_{{0, std::numeric_limits<double>::infinity()}};
};

} // namespace dfc
