// ByteCounts: how many claim each byte of an arena, as runs of bytes with one count. A claim and its end cost
// O(log n) and the runs that they cover; runs of one count are one run, so that a dense arena of any number
// of claims is a few.
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
  Runs::iterator cutAt(int64_t place);
  void joinAt(Runs::iterator run);
  Runs runs_ = {{0, 0}};
};

} // namespace dfc
