// FreeRanges: a free list of one device's memory for the values within a step. It remembers the last owner of
// each byte, so that an allocation knows which buffers' users it has to wait for.
#pragma once

#include "compiler/memory/memory_requirements.h"

#include <map>
#include <optional>

namespace dfc {

/// Which free range is allocated. LeastRecentlyFreed: the range that has been free for longest (one that was
/// never used comes first), because waiting for its last owners costs least. LowestAddress: the lowest
/// offset, which fragments memory least.
enum class FitRule : uint8_t { LeastRecentlyFreed, LowestAddress };

class FreeRanges {
 public:
  explicit FreeRanges(int64_t bytes) { spans_[0] = {bytes, {}, 0}; }

  /// An offset at which `bytes` are free, by `rule`; none where no free range is large enough. Linear in the
  /// number of ranges; constant time for sizes at least as large as one that failed since the last release.
  std::optional<int64_t> find(int64_t bytes, FitRule rule);
  /// Allocates [offset, offset + bytes), all free, to `owner`; returns the previous owners, each once.
  llvm::SmallVector<BufferId, 2> take(int64_t offset, int64_t bytes, BufferId owner);
  /// Frees a range that `take` allocated. `moment`: larger than at the call before.
  void release(int64_t offset, int64_t bytes, uint32_t moment);

 private:
  static constexpr uint32_t taken = std::numeric_limits<uint32_t>::max();
  struct Span {
    int64_t end = 0;
    BufferId owner;         ///< the last one; invalid where there was none
    uint32_t freeSince = 0; ///< moment of its release; `taken` while it is allocated
  };
  using Spans = std::map<int64_t, Span>; // by begin; together they cover the memory
  std::optional<uint32_t> freeSince(Spans::const_iterator first, int64_t end) const;
  Spans::iterator splitAt(int64_t place);
  Spans spans_;
  int64_t smallestFailedSize_ = std::numeric_limits<int64_t>::max(); // since the last release
};

} // namespace dfc
