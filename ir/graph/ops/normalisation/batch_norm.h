// batchNorm(a, scale, bias, mean, variance, axis=1, epsilon=1e-5): (a - mean) / sqrt(variance + epsilon) *
// scale + bias with a number of each for each channel, which is `axis`; for inference (Ioffe and Szegedy
// 2015; ONNX BatchNormalization, StableHLO batch_norm_inference). Element type: a float; the other
// operands may be f32 where a is f16 or bf16.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct BatchNorm : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{5, 5};
  int64_t axis = 1;
  double epsilon = 1e-5;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
