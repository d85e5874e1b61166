// BlockMovement: the movement ops around a convolution of blocks of pixels, for space_to_depth.
#pragma once

#include "compiler/passes/layout/pixel_blocks.h"
#include "ir/graph/rewriter.h"

namespace dfc {

/// Appends ops to the rewriter's new graph that take the place of `like`, the convolution (of the old graph)
/// that `blocks` describe. Tensors have their channels first unless it is said otherwise.
class BlockMovement {
 public:
  BlockMovement(Rewriter& rewriter, OpId like, const PixelBlocks& blocks)
      : rewriter_(rewriter), like_(like), blocks_(blocks) {}

  /// Named after the convolution.
  ValueId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands);

  /// An image padded by pixels, in blocks: [N, H', W', C * block], the channels last.
  ValueId inBlocks(ValueId image);
  /// That, padded by blocks and channels, as the convolution's operand.
  ValueId asOperand(ValueId inBlocks);
  ValueId filterInBlocks(ValueId filter);

  /// The gradients to image and filter, of those to the operands of the convolution of blocks.
  ValueId imageOf(ValueId blocks, const Shape& image);
  ValueId filterOf(ValueId blocks, const Shape& filter);

 private:
  ValueId gathered(ValueId pixels);
  ValueId scattered(ValueId blocks, int64_t channels);
  ValueId toFirst(ValueId now);
  ValueId toLast(ValueId now);
  ValueId padded(ValueId now, const Dims& low, const Dims& high);
  ValueId sliced(ValueId now, const Dims& starts, const Dims& ends);
  ValueId reshaped(ValueId now, const Dims& shape);
  ValueId transposed(ValueId now, const Dims& permutation);
  Shape shapeOf(ValueId now) const { return rewriter_.soFar().typeOf(now).shape; }

  Rewriter& rewriter_;
  OpId like_;
  const PixelBlocks& blocks_;
};

} // namespace dfc
