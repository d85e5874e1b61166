// round(a): the nearest whole number, halves to the even one (ONNX Round). Infinities, NaN and the sign of
// zero stay. Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Round : OpDefaults {
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
