// xor(a, b): of bool exactly one of a and b, of integers the same bit by bit, with broadcasting (StableHLO
// xor). Element type: bool or an integer.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Xor : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{2, 2};
  static constexpr bool exact = true;

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
