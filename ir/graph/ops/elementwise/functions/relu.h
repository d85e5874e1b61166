// relu(a): max(a, 0); NaN stays NaN; its gradient at 0 is 0. Element type: a number.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Relu : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
