// Occupancy: the content that was last written to each byte of an arena. For ir/verify/*.cpp only.
#pragma once

#include "ir/verify/contents.h"

#include <map>
#include <vector>

namespace dfc {

/// Disjoint intervals of bytes, each with its owner. Claiming costs O(log n) and the intervals it covers,
/// which it removes, so n claims cost O(n log n).
class Occupancy {
 public:
  /// Gives [begin, end) to `owner` and returns the previous owners, each once, in the order of ids.
  std::vector<ContentId> claim(int64_t begin, int64_t end, ContentId owner);

 private:
  struct Interval {
    int64_t end;
    ContentId owner;
  };
  void cutAt(int64_t place); ///< no interval reaches across `place` afterwards
  std::map<int64_t, Interval> intervals_;
};

} // namespace dfc
