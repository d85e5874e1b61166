#include "compiler/passes/layout/block_movement.h"

#include "ir/graph/rules/layout.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

Dims nothing() { return {0, 0, 0, 0}; }

} // namespace

ValueId BlockMovement::append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands) {
  const std::string name = std::string(rewriter_.old().nameOf(like_)) + ".blocks";
  return rewriter_.builder().result(rewriter_.append(std::move(attributes), operands, like_, name));
}

// Where pixels are padded, channels are padded with them: those of a block end in the same zeros as they
// would behind that.
ValueId BlockMovement::inBlocks(ValueId image) {
  const BlockAxis &rows = blocks_.rows, &columns = blocks_.columns;
  const Shape shape = shapeOf(image);
  const ValueId taken = sliced(image, nothing(), {shape[0], shape[1], rows.taken, columns.taken});
  return gathered(padded(taken, {0, 0, rows.lowPixels, columns.lowPixels},
                         {0, blocks_.padsPixels() ? blocks_.pixelChannels() - shape[1] : 0, rows.highPixels,
                          columns.highPixels}));
}

ValueId BlockMovement::asOperand(ValueId inBlocks) {
  const BlockAxis &rows = blocks_.rows, &columns = blocks_.columns;
  return toFirst(padded(
      inBlocks, {0, rows.blocksBefore(), columns.blocksBefore(), 0},
      {0, rows.blocksBehind(), columns.blocksBehind(), blocks_.paddedChannels - shapeOf(inBlocks)[3]}));
}

ValueId BlockMovement::filterInBlocks(ValueId filter) {
  const BlockAxis &rows = blocks_.rows, &columns = blocks_.columns;
  const ValueId inBlocks =
      gathered(padded(filter, {0, 0, rows.frontTaps, columns.frontTaps},
                      {0, blocks_.pixelChannels() - shapeOf(filter)[1], rows.backTaps, columns.backTaps}));
  return toFirst(padded(inBlocks, nothing(), {0, 0, 0, blocks_.paddedChannels - shapeOf(inBlocks)[3]}));
}

ValueId BlockMovement::imageOf(ValueId blocks, const Shape& image) {
  const BlockAxis &rows = blocks_.rows, &columns = blocks_.columns;
  const int64_t above = rows.blocksBefore(), left = columns.blocksBefore();
  const ValueId kept = sliced(toLast(blocks), {0, above, left, 0},
                              {image[0], above + rows.blocks(), left + columns.blocks(), blocks_.channels});
  const ValueId taken =
      sliced(scattered(kept, image[1]), {0, 0, rows.lowPixels, columns.lowPixels},
             {image[0], image[1], rows.lowPixels + rows.taken, columns.lowPixels + columns.taken});
  return padded(taken, nothing(), {0, 0, image[2] - rows.taken, image[3] - columns.taken});
}

ValueId BlockMovement::filterOf(ValueId blocks, const Shape& filter) {
  const BlockAxis &rows = blocks_.rows, &columns = blocks_.columns;
  const int64_t channels = blocks_.pixelChannels();
  const ValueId kept =
      sliced(toLast(blocks), nothing(),
             {filter[0], rows.windowBlocks, columns.windowBlocks, channels * blocks_.area()});
  return sliced(scattered(kept, channels), {0, 0, rows.frontTaps, columns.frontTaps},
                {filter[0], filter[1], rows.frontTaps + filter[2], columns.frontTaps + filter[3]});
}

// [N, C, H * rows, W * columns] as [N, H, W, C * rows * columns]. The pixels of a block's row stay
// neighbours.
ValueId BlockMovement::gathered(ValueId pixels) {
  const int64_t rows = blocks_.rows.block, columns = blocks_.columns.block;
  const Shape shape = shapeOf(pixels);
  const int64_t down = shape[2] / rows, across = shape[3] / columns;
  const ValueId apart = reshaped(pixels, {shape[0], shape[1], down, rows, across, columns});
  return reshaped(transposed(apart, {0, 2, 4, 1, 3, 5}), {shape[0], down, across, shape[1] * rows * columns});
}
// And back.
ValueId BlockMovement::scattered(ValueId blocks, int64_t channels) {
  const int64_t rows = blocks_.rows.block, columns = blocks_.columns.block;
  const Shape shape = shapeOf(blocks);
  const ValueId apart = reshaped(blocks, {shape[0], shape[1], shape[2], channels, rows, columns});
  return reshaped(transposed(apart, {0, 3, 1, 4, 2, 5}),
                  {shape[0], channels, shape[1] * rows, shape[2] * columns});
}

ValueId BlockMovement::toFirst(ValueId now) {
  return transposed(now, Dims(toChannelsFirst.begin(), toChannelsFirst.end()));
}
ValueId BlockMovement::toLast(ValueId now) {
  return transposed(now, Dims(toChannelsLast.begin(), toChannelsLast.end()));
}

ValueId BlockMovement::padded(ValueId now, const Dims& low, const Dims& high) {
  if (low == nothing() && high == nothing()) {
    return now;
  }
  ops::Pad op;
  op.low = low;
  op.high = high;
  return append(op, {now});
}
ValueId BlockMovement::sliced(ValueId now, const Dims& starts, const Dims& ends) {
  ops::Slice op;
  op.starts = starts;
  op.ends = ends;
  return starts == nothing() && Shape(ends) == shapeOf(now) ? now : append(op, {now});
}
ValueId BlockMovement::reshaped(ValueId now, const Dims& shape) {
  ops::Reshape op;
  op.shape = shape;
  return append(op, {now});
}
ValueId BlockMovement::transposed(ValueId now, const Dims& permutation) {
  ops::Transpose op;
  op.permutation = permutation;
  return append(op, {now});
}

} // namespace dfc
