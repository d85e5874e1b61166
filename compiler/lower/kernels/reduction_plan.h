// What the stages of a reduction share: the carry (partial result) as CUDA text, the layout of kept and
// reduced axes, and the assignment of elements to threads.
#pragma once

#include "compiler/lower/kernels/families.h"

namespace dfc::cuda {

/// The text of a reduction over values of `element`: Carry (a partial result), Position, start, accumulate,
/// merge, shuffled (a lane's carry, by xor) and finish, and Result, the storage of a result.
/// Merging is commutative, so that every order of lanes gives the same bits. `length`: elements of a result;
/// `meanOf`: the divisor of a mean.
std::string reductionText(ReductionKind kind, ElementType element, int64_t length, int64_t meanOf);
/// `mergedBlock<threads>(carry, ofWarps)`: the carries of a whole block, for its first thread. Goes behind
/// reductionText.
std::string blockReductionText();
/// Bytes of a Carry.
int64_t carryBytes(ReductionKind kind, ElementType element, int64_t length);

/// A reduction: the tensor, its axes and the operation.
struct ReductionRecipe {
  ElementType element;
  ReductionKind kind;
  Shape shape;
  llvm::SmallVector<int64_t, 4> axes; ///< ascending, counted from the front
  GpuShape gpu;                       ///< that the launches are sized for
  int64_t meanOf = 0;                 ///< divisor of a mean; 0: the number of reduced elements
};

/// A reduction seen as kept x reduced: two walks over the chain's elements.
struct ReductionLayout {
  ReductionLayout(const Shape& shape, llvm::ArrayRef<int64_t> axes);
  Access kept, reduced; ///< offsets of result `out`, and of its element `r` in row-major order, to be added
  int64_t outputs = 1, length = 1;
  bool byRows = true;      ///< the innermost axis is reduced
  int64_t innerExtent = 1; ///< of the innermost run of axes, all kept or all reduced
};

/// Which threads reduce which elements. Rows: `lanes` threads reduce a result (a part of a warp, a warp, or
/// the block). Columns: `lanes` threads reduce each column, and a block takes `columns` packs of neighbouring
/// results.
struct ReductionPlan {
  bool byRows = true;
  int64_t width = 1; ///< elements that are loaded at once
  int64_t threads = 32, lanes = 32, columns = 1;
  int64_t unroll = 1;
  int64_t parts = 1; ///< a result's elements are reduced by this many blocks, and merged by a second launch
  int64_t chunk = 1; ///< elements of a part; a multiple of width
};
ReductionPlan planReduction(const ReductionLayout& layout, int64_t fullWidth, int64_t carryBytes,
                            const GpuShape& gpu);

} // namespace dfc::cuda
