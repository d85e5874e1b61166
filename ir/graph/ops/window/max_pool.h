// maxPool(a, window=[h, w], strides=[1, 1], low=[0, 0], high=[0, 0], dilations=[1, 1]): the largest element
// of each window over the last two axes of a [N, C, H, W]; padding never wins, a window of padding only is
// refused; NaN wins (ONNX MaxPool). Element type: a number.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct MaxPool : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{1, 1};
  Dims window;
  Dims strides;
  Dims low;
  Dims high;
  Dims dilations;
  void fields(AttributeVisitor& visitor) {
    visitor.field("window", window, Presence::Required);
    visitor.field("strides", strides, Presence::Optional);
    visitor.field("low", low, Presence::Optional);
    visitor.field("high", high, Presence::Optional);
    visitor.field("dilations", dilations, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
