#include "ir/graph/ops/normalisation/layer_norm_gradient.h"
#include "ir/graph/rules/norm_rules.h"

namespace dfc::ops {

TypeResult LayerNormGradient::types(OperandTypes operands) const {
  return normGradientTypes(OpKind::LayerNormGradient, operands, axis, epsilon,
                           (toScale ? 1U : 0U) + (toBias ? 1U : 0U));
}

// For each element: 5 for the mean and the root, 4 for the scaled cotangent and its two sums, 5 for the
// normalised element and the result; 2 for the sum of scale's gradient and 1 for that of bias's.
OpCost LayerNormGradient::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 14 + (toScale ? 2 : 0) + (toBias ? 1 : 0));
}

SplitRule LayerNormGradient::split(OperandTypes operands, OperandTypes results) const {
  return normGradientSplit(operands, results, axis);
}

} // namespace dfc::ops
