// What the three batch normalisations share: the form of their operands.
#pragma once

#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// Ok (without types) when operand 0 is a float tensor with `axis`, `vectors` of the operands after it hold a
/// number of its element type for each channel (an index of `axis`), and epsilon is 0 or more.
TypeResult checkBatchNorm(OpKind kind, OperandTypes operands, size_t vectors, int64_t axis, double epsilon);
/// Ok (without types) when a channel has elements: the mean of none has no value.
TypeResult checkChannelElements(OpKind kind, OperandTypes operands, int64_t axis);

/// A tensor seen as [outer, channels, inner].
struct Channels {
  int64_t outer = 1, channels = 1, inner = 1;
  Channels(const Shape& shape, int64_t axis);        ///< `axis` in [-rank, rank)
  int64_t elements() const { return outer * inner; } ///< of one channel
};

/// Operands and results that are vectors have the channels, the others all axes. Channels are free; the other
/// axes, too, unless the op makes `statistics` of them, which an op cannot do in parts.
SplitRule batchNormSplit(OperandTypes operands, OperandTypes results, int64_t axis, bool statistics);

} // namespace dfc
