// subview(a, start=…, shape=[…]): elements start, start + 1, … of a in row-major order, under another shape,
// in the bytes of a: nothing is copied. Made by the compiler only (compiler/passes/view_slices.cpp). The
// first element is a multiple of `subviewAlignment` bytes behind that of a.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

inline constexpr int64_t subviewAlignment = 64; ///< bytes; what kernels assume of every value

struct Subview : OpDefaults {
  static constexpr OpClass opClass = OpClass::View;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  int64_t start = 0; ///< an element of the operand
  Dims shape;
  void fields(AttributeVisitor& visitor) {
    visitor.field("start", start, Presence::Required);
    visitor.field("shape", shape, Presence::Required);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const; ///< never: it is made behind the split
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
