// split(a, sizes=[…], axis=0): the parts of a along `axis`, one result for each size; the sizes add up to the
// dimension (ONNX Split). The inverse of concat.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Split : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  Dims sizes;
  int64_t axis = 0;
  void fields(AttributeVisitor& visitor) {
    visitor.field("sizes", sizes, Presence::Required);
    visitor.field("axis", axis, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
