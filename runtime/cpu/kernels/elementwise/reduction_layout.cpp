#include "runtime/cpu/kernels/elementwise/reduction_layout.h"

#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <algorithm>

namespace dfc {
namespace {

// A chunk of a row is long enough to pay for a thread; a chunk of a column is short enough that summing its
// rows sequentially keeps f64 sums accurate.
constexpr int64_t rowChunk = 64 * tileElements;
constexpr int64_t columnChunk = 256;

// No axes given means all of them; negative ones count from the end.
llvm::SmallVector<bool, 8> reducedAxes(const Shape& shape, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<bool, 8> reduced(shape.rank(), axes.empty());
  for (const int64_t axis : axes) {
    reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis)] = true;
  }
  return reduced;
}

} // namespace

ReductionLayout::ReductionLayout(const Shape& shape, llvm::ArrayRef<int64_t> axes) {
  const llvm::SmallVector<bool, 8> isReduced = reducedAxes(shape, axes);
  size_t innerBegin = shape.rank(); // the kept axes at the end; axes of length 1 count as either
  while (innerBegin > 0 && (!isReduced[innerBegin - 1] || shape[innerBegin - 1] == 1)) {
    --innerBegin;
    inner *= shape[innerBegin];
  }
  byRows = inner == 1;
  for (const bool pass : {false, true}) {
    for (size_t axis = 0; axis < innerBegin; ++axis) {
      if (isReduced[axis] == pass) {
        order.push_back(axis);
        (pass ? reduced : outer) *= shape[axis];
      }
    }
  }
  for (size_t axis = innerBegin; axis < shape.rank(); ++axis) {
    order.push_back(axis);
  }
  chunkLength = byRows ? rowChunk : columnChunk;
  chunks = std::max<int64_t>(1, (reduced + chunkLength - 1) / chunkLength);
}

} // namespace dfc
