// What the three batch normalisations share: the form of their operands, and channel arithmetic for gradient
// rules.
#pragma once

#include "ir/author/builder.h"
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

/// The work of gradient rules on tensors [.., C, ..] and vectors [C]. Appends ops with the builder's present
/// scope, pin and place.
class ChannelMath {
 public:
  ChannelMath(const Shape& shape, int64_t axis);
  /// A vector as a tensor that broadcasts to the shape.
  Tensor across(Tensor vector) const;
  /// The sum of each channel: a vector.
  Tensor sum(Tensor tensor) const;
  double elements() const { return static_cast<double>(channels_.elements()); }

 private:
  Channels channels_;
  Dims across_, others_;
};

} // namespace dfc
