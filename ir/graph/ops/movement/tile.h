// tile(a, repeats=[…]): a repeated along each axis (ONNX Tile).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Tile : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  Dims repeats;
  void fields(AttributeVisitor& visitor) { visitor.field("repeats", repeats, Presence::Required); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
