// transpose(a, permutation=[…]): axis i of the result is axis permutation[i] of a; none given reverses the
// axes (ONNX Transpose).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Transpose : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  Dims permutation;
  void fields(AttributeVisitor& visitor) { visitor.field("permutation", permutation, Presence::Optional); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
