// stopGradient(a): a itself, through which no gradient passes: `gradients` takes it for a constant.
// Composite: its formula is its operand, so that the compiler takes the op off the graph once gradients are
// spelled out.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct StopGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::View;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
