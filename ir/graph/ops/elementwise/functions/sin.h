// sin(a), a in radians (ONNX Sin); of an infinity NaN. Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Sin : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
