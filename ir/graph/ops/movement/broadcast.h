// broadcast(a, shape=[…]): a stretched to `shape` as NumPy does (ONNX Expand, one way).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Broadcast : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
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
