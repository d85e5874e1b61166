// not(a): of bool the opposite, of integers every bit turned (StableHLO not). Element type: bool or an
// integer.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Not : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
