// constant: a value known when the graph is written.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Constant : OpDefaults {
  static constexpr OpClass opClass = OpClass::Source;
  static constexpr Arity arity{0, 0};
  Literal value;
  void fields(AttributeVisitor& visitor) { visitor.field("value", value, Presence::Required); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
