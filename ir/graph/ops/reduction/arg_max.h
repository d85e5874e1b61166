// argMax(a, axis=-1, keepDims=false): index of the first largest element along `axis`, as i64 (ONNX ArgMax).
// NaN counts as the largest.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct ArgMax : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  int64_t axis = -1;
  bool keepDims = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("keepDims", keepDims, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
