// silu(a): a sigmoid(a), also called swish (Elfwing, Uchibe and Doya 2018; ONNX Swish). Element type: a
// float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Silu : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
