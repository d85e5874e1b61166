// What the stages of a reduction share: the carry of a fold as CUDA text, the layout of kept and folded axes,
// and the decision which threads fold what.
#pragma once

#include "runtime/cuda/kernels/families.h"

namespace dfc::cuda {

/// The text of a fold over values of `element`: Carry (what a partial fold knows), Position, start, fold,
/// merge, shuffled (a lane's carry, by xor) and finish, and Result, the storage of a result.
/// Merging is commutative, so that every order of lanes gives the same bits. `length`: elements of a result.
std::string foldText(Fold fold, ElementType element, int64_t length);
/// `mergedBlock<threads>(carry, ofWarps)`: the carries of a whole block, for its first thread. Goes behind
/// foldText.
std::string foldBlockText();
/// Bytes of a Carry.
int64_t carryBytes(Fold fold, ElementType element, int64_t length);

/// What is folded and how.
struct FoldRecipe {
  ElementType element;
  Fold fold;
  Shape shape;
  llvm::SmallVector<int64_t, 4> axes; ///< ascending, counted from the front
  GpuShape gpu;                       ///< that the launches are sized for
};

/// A reduction seen as kept x folded: two walks over the chain's elements.
struct FoldLayout {
  FoldLayout(const Shape& shape, llvm::ArrayRef<int64_t> axes);
  Access kept, folded; ///< offsets of result `out`, and of its element `r` in row-major order, to be added
  int64_t outputs = 1, length = 1;
  bool byRows = true;      ///< the innermost axis is folded
  int64_t innerExtent = 1; ///< of the innermost run of axes, all kept or all folded
};

/// Who folds what. Rows: `lanes` threads fold a result (a part of a warp, a warp, or the block). Columns:
/// `lanes` threads fold each column, and a block takes `columns` packs of neighbouring results.
struct FoldPlan {
  bool byRows = true;
  int64_t width = 1; ///< elements that are loaded at once
  int64_t threads = 32, lanes = 32, columns = 1;
  int64_t unroll = 1;
  int64_t parts = 1; ///< a result's elements are folded by this many blocks, and merged by a second launch
  int64_t chunk = 1; ///< elements of a part; a multiple of width
};
FoldPlan planFold(const FoldLayout& layout, int64_t fullWidth, int64_t carryBytes, const GpuShape& gpu);

} // namespace dfc::cuda
