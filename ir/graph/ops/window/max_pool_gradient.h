// maxPoolGradient(a, cotangent, …): the gradient of maxPool to its operand: each cotangent goes to the first
// element of its window that is the largest. The attributes are those of the maxPool.
#pragma once

#include "ir/graph/op_options.h"
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
  ImageLayout layout = ImageLayout::Nchw;
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
