// concat(a, b, …, axis=0): one after the other along `axis`; the other dimensions agree (ONNX Concat).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Concat : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, anyNumber};
  static constexpr bool exact = true;
  int64_t axis = 0;
  void fields(AttributeVisitor& visitor) { visitor.field("axis", axis, Presence::Optional); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
