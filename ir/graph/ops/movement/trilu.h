// trilu(a, k=0, upper=true): of each matrix (the last two axes) the part on and above the k-th diagonal, or
// on and below it; zeros elsewhere. k counts to the right of the main diagonal (ONNX Trilu).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Trilu : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  int64_t k = 0;
  bool upper = true;
  void fields(AttributeVisitor& visitor) {
    visitor.field("k", k, Presence::Optional);
    visitor.field("upper", upper, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
