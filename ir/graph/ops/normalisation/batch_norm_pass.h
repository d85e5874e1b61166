// batchNormPass(a, scale, bias, sums, count=n, axis=1, epsilon=1e-5): the first result of batchNormTraining,
// by the sums that batchNormSums makes of all parts of a, of n elements a channel. Further operand and relu
// as there. Not of the author: the stage `split` makes it, as batchNormSums.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct BatchNormPass : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{4, 5};
  int64_t count = 1;
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool relu = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("count", count, Presence::Required);
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
    visitor.field("relu", relu, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
