// clip(a, low, high): min(max(a, low), high), elementwise with broadcasting; NaN in any operand gives NaN
// (ONNX Clip, StableHLO clamp). Element type: a number.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Clip : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{3, 3};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
