// iota(type, axis=0, start=0): each element is its own index along `axis`, counted from `start`, rounded to
// the element type, integers wrapping. Element type: a number (StableHLO iota).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Iota : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{0, 0};
  static constexpr bool exact = true;
  TensorType type;
  int64_t axis = 0;
  int64_t start = 0;
  void fields(AttributeVisitor& visitor) {
    visitor.field("type", type, Presence::Required);
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("start", start, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
