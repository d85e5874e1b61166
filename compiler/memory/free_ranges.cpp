#include "compiler/memory/free_ranges.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {

std::optional<int64_t> FreeRanges::find(int64_t bytes, FitRule rule) {
  if (bytes >= smallestFailedSize_) {
    return std::nullopt;
  }
  std::optional<int64_t> best;
  uint32_t bestSince = taken;
  for (auto span = spans_.begin(); span != spans_.end(); ++span) {
    const auto since = freeSince(span, span->first + bytes);
    if (since && *since < bestSince) {
      best = span->first;
      bestSince = *since;
      if (rule == FitRule::LowestAddress || bestSince == 0) {
        return best;
      }
    }
  }
  smallestFailedSize_ = best ? smallestFailedSize_ : bytes;
  return best;
}

/// The moment since which all of [first, end) is free; none where it is not, or where it ends beyond the
/// memory.
std::optional<uint32_t> FreeRanges::freeSince(Spans::const_iterator first, int64_t end) const {
  uint32_t latest = 0;
  for (auto span = first; span != spans_.end(); ++span) {
    if (span->second.freeSince == taken) {
      return std::nullopt;
    }
    latest = std::max(latest, span->second.freeSince);
    if (span->second.end >= end) {
      return latest;
    }
  }
  return std::nullopt;
}

llvm::SmallVector<BufferId, 2> FreeRanges::take(int64_t offset, int64_t bytes, BufferId owner) {
  llvm::SmallVector<BufferId, 2> before;
  const auto last = splitAt(offset + bytes);
  const auto first = splitAt(offset);
  for (auto span = first; span != last; ++span) {
    DFC_ASSERT(span->second.freeSince != taken, "a range is allocated twice");
    if (span->second.owner.valid() && !llvm::is_contained(before, span->second.owner)) {
      before.push_back(span->second.owner);
    }
  }
  spans_.erase(first, last);
  spans_[offset] = {offset + bytes, owner, taken};
  return before;
}

void FreeRanges::release(int64_t offset, int64_t bytes, uint32_t moment) {
  const auto span = spans_.find(offset);
  DFC_ASSERT(span != spans_.end() && span->second.end == offset + bytes, "what is released was taken");
  span->second.freeSince = moment;
  smallestFailedSize_ = std::numeric_limits<int64_t>::max();
}

/// The span that begins at `place`, split off where a span contains `place`, or the end iterator.
FreeRanges::Spans::iterator FreeRanges::splitAt(int64_t place) {
  auto next = spans_.lower_bound(place);
  if (next != spans_.end() && next->first == place) {
    return next;
  }
  const auto span = std::prev(next);
  if (span->second.end <= place) {
    return next;
  }
  Span right = span->second;
  span->second.end = place;
  return spans_.emplace_hint(next, place, right);
}

} // namespace dfc
