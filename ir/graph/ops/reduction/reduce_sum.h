// reduceSum(a, axes=[…], keepDims=false): the sum over `axes` (negative ones count from the end; none given
// means all). Element type: a number. An empty sum is 0.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct ReduceSum : OpDefaults {
  static constexpr OpClass opClass = OpClass::Reduction;
  static constexpr Arity arity{1, 1};
  Dims axes;
  bool keepDims = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axes", axes, Presence::Optional);
    visitor.field("keepDims", keepDims, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
