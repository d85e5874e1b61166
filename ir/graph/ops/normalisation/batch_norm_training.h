// batchNormTraining(a, scale, bias, axis=1, epsilon=1e-5): three results: a normalised by its own mean and
// variance over all axes but `axis`, scaled and shifted as batchNorm does, that mean, and that variance (not
// corrected) (StableHLO batch_norm_training). Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct BatchNormTraining : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{3, 3};
  int64_t axis = 1;
  double epsilon = 1e-5;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
