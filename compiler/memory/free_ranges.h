// FreeRanges: the bytes of one device that values of a step take turns in. It knows whom each byte was last
// given to, so that a new owner knows for whose end it has to wait.
#pragma once

#include "compiler/memory/memory_requirements.h"

#include <map>
#include <optional>

namespace dfc {

/// Which of the free places is taken: the one that has been free for longest (never used at all, best), so
/// that waiting for its last owners costs least; or the lowest, which keeps the rest in one piece.
enum class FitRule : uint8_t { Longest, Lowest };

class FreeRanges {
 public:
  explicit FreeRanges(int64_t bytes) { spans_[0] = {bytes, {}, 0}; }

  /// An offset at which `bytes` are free, by `rule`. Time is linear in the spans that the room is cut into,
  /// constant for no less than what found no place since the last release.
  std::optional<int64_t> find(int64_t bytes, FitRule rule);
  /// Gives [offset, offset + bytes), all free, to `owner`; returns the owners before, each once.
  llvm::SmallVector<BufferId, 2> take(int64_t offset, int64_t bytes, BufferId owner);
  /// `moment`: grows from call to call.
  void release(int64_t offset, int64_t bytes, uint32_t moment);

 private:
  static constexpr uint32_t taken = std::numeric_limits<uint32_t>::max();
  struct Span {
    int64_t end = 0;
    BufferId owner;        ///< the last; invalid where there was none
    uint32_t freeSince = 0; ///< moment; `taken` while it is not free
  };
  using Spans = std::map<int64_t, Span>; // by begin; they cover the room
  std::optional<uint32_t> latestIn(Spans::const_iterator first, int64_t end) const;
  Spans::iterator cutAt(int64_t place);
  Spans spans_;
  int64_t tooLarge_ = std::numeric_limits<int64_t>::max(); // found no place since the last release
};

} // namespace dfc
