// layerNorm(a, scale, bias, axis=-1, epsilon=1e-5): (a - mean) / sqrt(variance + epsilon) * scale + bias,
// mean and variance (not corrected) over `axis` and all after it; scale and bias (may be left out) have the
// shape of those axes (Ba, Kiros and Hinton 2016; ONNX LayerNormalization). Computed in f32, f64 for f64.
// Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct LayerNorm : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 3};
  int64_t axis = -1;
  double epsilon = 1e-5;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
