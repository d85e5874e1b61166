// select(condition, a, b): a where condition holds, else b (ONNX Where). condition: bool; all three
// broadcast.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Select : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{3, 3};
  static constexpr bool exact = true;

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results).with({{1, 2}});
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
