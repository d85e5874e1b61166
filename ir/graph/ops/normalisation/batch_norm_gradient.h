// batchNormGradient(a, scale, mean, variance, cotangent, axis=1, epsilon=1e-5): three results: the gradients
// of batchNormTraining's first result to a, scale and bias (StableHLO batch_norm_grad). Element types as
// there.
//
// batchNormGradient(a, scale, mean, variance, cotangent, result, relu=true): of one that ends in a relu, with
// its result. addend=true: a fourth result, the gradient to its addend.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct BatchNormGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{5, 6};
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool relu = false;
  bool addend = false;
  void fields(AttributeVisitor& visitor) {
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
