// topK(a, k, axis=-1, largest=true): two results, the k largest (or smallest) elements along `axis`, in
// order, and their indices as i64. Of equal elements the one of lower index comes first; NaN counts as larger
// than all (ONNX TopK, sorted). Element type: a number.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct TopK : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  int64_t k = 0;
  int64_t axis = -1;
  bool largest = true;
  void fields(AttributeVisitor& visitor) {
    visitor.field("k", k, Presence::Required);
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("largest", largest, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
