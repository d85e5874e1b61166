// pad(a, low=[…], high=[…], interior=[…], value=0): `value` before, after and between the elements of every
// axis (StableHLO pad, edges not negative). With value 0 it is the adjoint of slice.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Pad : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  Dims low;
  Dims high;
  Dims interior;
  double value = 0;
  void fields(AttributeVisitor& visitor) {
    visitor.field("low", low, Presence::Required);
    visitor.field("high", high, Presence::Required);
    visitor.field("interior", interior, Presence::Optional);
    visitor.field("value", value, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
