#include "compiler/memory/byte_counts.h"

#include "ir/base/assert.h"

#include <iterator>

namespace dfc {

bool ByteCounts::isFree(int64_t begin, int64_t end) const {
  const auto run = std::prev(runs_.upper_bound(begin)); // neighbours differ, so that free bytes are one run
  const auto next = std::next(run);
  return run->second == 0 && (next == runs_.end() || next->first >= end);
}

int64_t ByteCounts::lowestFree(int64_t bytes) const {
  for (auto run = runs_.begin();; ++run) {
    DFC_ASSERT(run != runs_.end(), "the last run is free and endless");
    const auto next = std::next(run);
    if (run->second == 0 && (next == runs_.end() || next->first - run->first >= bytes)) {
      return run->first;
    }
  }
}

void ByteCounts::change(int64_t begin, int64_t end, int32_t by) {
  DFC_ASSERT(0 <= begin && begin < end, "a claim of some bytes");
  const auto first = splitAt(begin);
  const auto last = splitAt(end);
  for (auto run = first; run != last; ++run) {
    run->second += by;
  }
  coalesceAt(last);
  coalesceAt(first);
}

/// The run that begins at `place`, made where none does.
ByteCounts::Runs::iterator ByteCounts::splitAt(int64_t place) {
  const auto next = runs_.lower_bound(place);
  return next != runs_.end() && next->first == place
             ? next
             : runs_.emplace_hint(next, place, std::prev(next)->second);
}

void ByteCounts::coalesceAt(Runs::iterator run) {
  if (run != runs_.begin() && std::prev(run)->second == run->second) {
    runs_.erase(run);
  }
}

} // namespace dfc
