#include "ir/author/attention_axes.h"

#include "ir/author/dsl.h"
#include "ir/base/assert.h"

#include <algorithm>
#include <numeric>

namespace dfc {

Dims swappedAxes(size_t rank, size_t first, size_t second) {
  DFC_ASSERT(rank >= std::max(first, second), "axes that a tensor does not have");
  Dims permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - first], permutation[rank - second]);
  return permutation;
}

Tensor rowsAndHeads(const Tensor& x) { return transpose(x, swappedAxes(x.shape().rank(), 2, 3)); }

Tensor statisticsOfHeads(const Tensor& x) { return transpose(x, swappedAxes(x.shape().rank(), 1, 2)); }

} // namespace dfc
