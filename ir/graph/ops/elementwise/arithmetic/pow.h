// pow(a, b): a to the power b, elementwise with broadcasting; edge cases as C's pow (IEEE 754 pow; ONNX Pow).
// Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Pow : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{2, 2};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
