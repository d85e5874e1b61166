// QueryBlocks: how attention is cut, by its shape alone: blocks of queries, and for each the keys that are
// multiplied with it. Keys behind the last one that a causal block sees are left out, but for rounding to a
// few extents, as each extent needs primitives of its own.
#pragma once

#include "ir/graph/rules/attention_shape.h"

namespace dfc {

class QueryBlocks {
 public:
  QueryBlocks(const AttentionShape& shape, bool causal);

  int64_t count() const { return count_; }
  int64_t first(int64_t block) const { return block * mostRows_; } ///< query
  int64_t rows(int64_t block) const;
  /// Keys [0, extent) are multiplied with the block's queries.
  int64_t extent(int64_t block) const;
  /// Keys [0, limit) come into question for a query: all, or those at its place and before.
  int64_t limit(int64_t query) const;
  int64_t mostRows() const { return mostRows_; }

 private:
  int64_t queries_, keys_, start_;
  bool causal_;
  int64_t mostRows_, quantum_, count_;
};

} // namespace dfc
