// batchNormTraining(a, scale, bias, axis=1, epsilon=1e-5): three results: a normalised by its own mean and
// variance over all axes but `axis`, scaled and shifted as batchNorm does, that mean, and that variance (not
// corrected) (StableHLO batch_norm_training). Element type: a float; scale, bias, mean and variance may be
// f32 where a is f16 or bf16.
//
// batchNormTraining(a, scale, bias, addend, relu=true): the first result is relu(normalised + addend), as at
// the end of a residual block (He et al. 2016); either may be left out. The pass fuse_batch_norm makes such
// ops.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct BatchNormTraining : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{3, 4};
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool relu = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
    visitor.field("relu", relu, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
