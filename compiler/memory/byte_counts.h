// ByteCounts: a reference count for each byte of an arena, run-length encoded. A claim or a release costs
// O(log n) plus the runs that it covers. Neighbouring runs of equal count are merged, so a dense arena has
// few runs, however many claims it has.
#pragma once

#include <cstdint>
#include <map>

namespace dfc {

class ByteCounts {
 public:
  /// One claim more (or less) on [begin, end), which is not empty.
  void claim(int64_t begin, int64_t end) { change(begin, end, 1); }
  void release(int64_t begin, int64_t end) { change(begin, end, -1); }
  bool isFree(int64_t begin, int64_t end) const;
  /// The lowest offset of `bytes` unclaimed bytes; a multiple of whatever all claims begin and end at
  /// multiples of.
  int64_t lowestFree(int64_t bytes) const;

 private:
  using Runs = std::map<int64_t, int32_t>; // begin of a run, which ends where the next begins -> its count
  void change(int64_t begin, int64_t end, int32_t by);
  Runs::iterator splitAt(int64_t place);
  void coalesceAt(Runs::iterator run);
  Runs runs_ = {{0, 0}};
};

} // namespace dfc
