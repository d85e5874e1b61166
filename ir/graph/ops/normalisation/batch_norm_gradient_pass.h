// batchNormGradientPass(a, scale, mean, variance, cotangent, sums, count=n, axis=1, epsilon=1e-5): the first
// result of batchNormGradient, by the sums that batchNormSums makes of all parts of its operands, of n
// elements a channel. batchNormGradientPass(…, sums, result, relu=true) and addend=true, here a second
// result, as there. Not of the author: the stage `split` makes it, as batchNormSums.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct BatchNormGradientPass : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{6, 7};
  int64_t count = 1;
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool relu = false;
  bool addend = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("count", count, Presence::Required);
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
    visitor.field("relu", relu, Presence::Optional);
    visitor.field("addend", addend, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
