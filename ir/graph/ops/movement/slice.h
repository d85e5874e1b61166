// slice(a, starts=[…], ends=[…], strides=[…]): elements starts, starts + strides, … below ends, on every axis
// (StableHLO slice). 0 <= starts <= ends <= dimension, strides >= 1; strides left out are 1.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Slice : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  Dims starts;
  Dims ends;
  Dims strides;
  void fields(AttributeVisitor& visitor) {
    visitor.field("starts", starts, Presence::Required);
    visitor.field("ends", ends, Presence::Required);
    visitor.field("strides", strides, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
