// ReductionLayout: how a reduction walks its operand, decided by shape and axes alone, so that the order of a
// sum never depends on threads, strides or fusion.
//
// The axes are reordered to [outer, reduced, inner]. Where the innermost axis is reduced, inner is 1 and each
// result is the reduction of a row. Otherwise inner is the product of the kept axes at the end, and whole
// rows are reduced into a vector of accumulators. The reduced extent is cut into chunks, whose accumulators
// are merged pairwise at the end.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc {

struct ReductionLayout {
  ReductionLayout(const Shape& shape, llvm::ArrayRef<int64_t> axes);

  llvm::SmallVector<size_t, 8> order; ///< the operand's axes as walked, outermost first
  int64_t outer = 1, reduced = 1, inner = 1;
  bool byRows = true;      ///< inner == 1 and the innermost axis is reduced
  int64_t chunkLength = 1; ///< of the reduced extent
  int64_t chunks = 1;      ///< ceil(reduced / chunkLength), at least 1
};

} // namespace dfc
