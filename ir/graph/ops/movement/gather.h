// gather(a, indices, axis=0): the slices of a along `axis` that `indices` (i32 or i64, any shape) name;
// result: a's shape with the axis replaced by the shape of the indices (ONNX Gather, NumPy take). An index
// below 0 counts from the end; one out of range gives NaN, or 0 where the element type has no NaN.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Gather : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{2, 2};
  static constexpr bool exact = true;
  int64_t axis = 0;
  void fields(AttributeVisitor& visitor) { visitor.field("axis", axis, Presence::Optional); }

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
