// What the three batch normalisations share: the form of their operands.
#pragma once

#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// Ok (without types) when operand 0 is a float tensor with `axis`, `vectors` of the operands after it hold a
/// number of its element type for each channel (an index of `axis`), and epsilon is 0 or more.
TypeResult checkBatchNorm(OpKind kind, OperandTypes operands, size_t vectors, int64_t axis, double epsilon);
/// Ok (without types) when a channel has elements: the mean of none has no value.
TypeResult checkChannelElements(OpKind kind, OperandTypes operands, int64_t axis);

/// Ok (without types) when operand `sums` is f64[2, channels] and a channel of the whole has `count`
/// elements, at least one.
TypeResult checkChannelSums(OpKind kind, OperandTypes operands, size_t sums, int64_t axis, int64_t count);

/// A tensor seen as [outer, channels, inner].
struct Channels {
  int64_t outer = 1, channels = 1, inner = 1;
  Channels(const Shape& shape, int64_t axis);        ///< `axis` in [-rank, rank)
  int64_t elements() const { return outer * inner; } ///< of one channel
};

/// Operands and results that are vectors have the channels, the others all axes. Channels are free; the other
/// axes, too, unless the op makes `statistics` of them, which an op cannot do in parts.
SplitRule batchNormSplit(OperandTypes operands, OperandTypes results, int64_t axis, bool statistics);
/// Of an op whose operands `tensors` (those that there are) and results have all axes, each of them free, and
/// operand `sums` two rows of channels; the others are vectors.
SplitRule batchNormPassSplit(OperandTypes operands, OperandTypes results, int64_t axis,
                             llvm::ArrayRef<size_t> tensors, size_t sums);

} // namespace dfc
