// hardSwish(a): a clip(a/6 + 1/2, 0, 1), silu's likeness without an exponential (Howard et al. 2019; ONNX
// HardSwish). Element type: a float. Exactly 0 up to -3 and exactly a from 3 on; of -infinity it is NaN, as
// the formula has it.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct HardSwish : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
