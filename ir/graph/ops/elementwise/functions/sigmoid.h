// sigmoid(a): 1 / (1 + exp(-a)), without overflow. Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Sigmoid : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
