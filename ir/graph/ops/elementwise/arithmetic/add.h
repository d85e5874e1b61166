// add(a, b): a + b. Operands broadcast as NumPy does and have one element type (not bool).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Add : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{2, 2};
  static constexpr bool exact = true;

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results).with({{0, 1}});
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
