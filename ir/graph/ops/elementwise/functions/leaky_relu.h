// leakyRelu(a, slope): a where a >= 0, slope times a below, with broadcasting: one slope for all, or one for
// each channel (ONNX LeakyRelu and PRelu). Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct LeakyRelu : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{2, 2};

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
