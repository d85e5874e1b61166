// max(a, b): the larger; NaN if either is NaN. Operands broadcast as NumPy does and have one element type
// (not bool).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Maximum : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{2, 2};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
