#include "runtime/cpu/kernels/attention/query_blocks.h"

#include <algorithm>

namespace dfc {
namespace {

int64_t rounded(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// The scores of a block stay in L2 where there are 16 rows or more: fewer would not pay for reading the keys.
int64_t rowsOf(const AttentionShape& shape) {
  constexpr int64_t mostScores = 1 << 16, least = 16, most = 64;
  const int64_t rows = mostScores / std::max<int64_t>(shape.keys, 1) / least * least;
  return std::clamp<int64_t>(std::clamp(rows, least, most), 1, std::max<int64_t>(shape.queries, 1));
}

} // namespace

QueryBlocks::QueryBlocks(const AttentionShape& shape, bool causal)
    : queries_(shape.queries), keys_(shape.keys), start_(shape.start), causal_(causal),
      mostRows_(rowsOf(shape)), quantum_(std::max<int64_t>(rounded((shape.keys + 15) / 16, 64), 64)),
      count_((shape.queries + mostRows_ - 1) / mostRows_) {}

int64_t QueryBlocks::rows(int64_t block) const { return std::min(mostRows_, queries_ - first(block)); }

int64_t QueryBlocks::extent(int64_t block) const {
  const int64_t last = first(block) + rows(block) - 1;
  return std::min(keys_, rounded(limit(last), quantum_));
}

int64_t QueryBlocks::limit(int64_t query) const {
  return causal_ ? std::min(start_ + query + 1, keys_) : keys_;
}

} // namespace dfc
