// reduceMean(a, axes=[…], keepDims=false): the mean over `axes` (negative ones count from the end; none given
// means all). Element type: a float. An axis of length 0 is refused. count=N: a is a part of a
// larger tensor, of which N elements are reduced to each result, and the sum is divided by N.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct ReduceMean : OpDefaults {
  static constexpr OpClass opClass = OpClass::Reduction;
  static constexpr Arity arity{1, 1};
  Dims axes;
  bool keepDims = false;
  int64_t count = 0; ///< elements of the whole reduced to one result; 0: those of the operand
  void fields(AttributeVisitor& visitor) {
    visitor.field("axes", axes, Presence::Optional);
    visitor.field("keepDims", keepDims, Presence::Optional);
    visitor.field("count", count, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& part);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
