// input: a value that the caller feeds anew at every step, on the host.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Input : OpDefaults {
  static constexpr OpClass opClass = OpClass::Source;
  static constexpr Arity arity{0, 0};
  TensorType type;
  void fields(AttributeVisitor& visitor) { visitor.field("type", type, Presence::Required); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
