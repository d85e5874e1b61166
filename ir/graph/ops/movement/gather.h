// gather(a, indices, axis=0): the slices of a along `axis` that `indices` (i32 or i64, any shape) name;
// result: a's shape with the axis replaced by the shape of the indices (ONNX Gather, NumPy take). An index
// below 0 counts from the end; one out of range gives NaN, or 0 where the element type has no NaN.
//
// gather(a, indices, start, whole): a is a part of an axis of length `whole`, its first slice being slice
// `start`, and the indices are those of the whole. Of another part's slices it gives 0, so that the parts'
// results add up.
#pragma once

#include "ir/graph/op_parts.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

struct Gather : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{2, 2};
  static constexpr bool exact = true;
  int64_t axis = 0;
  AxisPart part;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    part.fields(visitor);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& given);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
