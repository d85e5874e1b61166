// reshape(a, shape=[…]): the same elements, row-major, under another shape (ONNX Reshape). One dimension may
// be -1: the rest.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Reshape : OpDefaults {
  static constexpr OpClass opClass = OpClass::View;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  Dims shape;
  void fields(AttributeVisitor& visitor) { visitor.field("shape", shape, Presence::Required); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
