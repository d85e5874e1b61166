// maxPoolGradient(a, cotangent, …): the gradient of maxPool to its operand: each cotangent goes to the first
// element of its window that is the largest. The attributes are those of the maxPool.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct MaxPoolGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
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
