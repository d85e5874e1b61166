// assign(parameter, value): the parameter holds `value` from the next step on; the result is that value.
// Reads of the parameter itself still see the old one. At most one assign for each parameter. value: the
// parameter's type.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Assign : OpDefaults {
  static constexpr OpClass opClass = OpClass::State;
  static constexpr Arity arity{2, 2};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
