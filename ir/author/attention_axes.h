// The axes of attention's tensors in one another's place: [batch…, heads, rows, width], the layout of heads
// first, and [batch…, rows, heads, width], the layout of rows first.
#pragma once

#include "ir/author/builder.h"

namespace dfc {

/// The permutation of `rank` axes with two of them swapped, counted from the last (1) on.
Dims swappedAxes(size_t rank, size_t first, size_t second);
/// q, k, v or a result of one layout in the other one.
Tensor rowsAndHeads(const Tensor& x);
/// The same of logSumExp or delta, which have no width.
Tensor statisticsOfHeads(const Tensor& x);

} // namespace dfc
