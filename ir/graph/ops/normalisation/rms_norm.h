// rmsNorm(a, scale, axis=-1, epsilon=1e-5): a / sqrt(mean of a^2 + epsilon) * scale, the mean over `axis` and
// all after it; scale has the shape of those axes (Zhang and Sennrich 2019; ONNX RMSNormalization). Computed
// in f32, f64 for f64. Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct RmsNorm : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, 2};
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
