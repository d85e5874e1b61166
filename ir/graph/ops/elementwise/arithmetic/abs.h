// abs(a): the magnitude; of the least integer that integer itself, as negation wraps (ONNX Abs). Element
// type: a number.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Abs : OpDefaults {
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
