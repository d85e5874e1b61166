#include "ir/graph/ops/normalisation/rms_norm_gradient.h"
#include "ir/graph/rules/norm_rules.h"

namespace dfc::ops {

TypeResult RmsNormGradient::types(OperandTypes operands) const {
  return normGradientTypes(OpKind::RmsNormGradient, operands, axis, epsilon, toScale ? 1U : 0U);
}

// For each element: 2 for the root, 3 for the scaled cotangent and its sum, 4 for the normalised element and
// the result; 2 for the sum of scale's gradient.
OpCost RmsNormGradient::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 9 + (toScale ? 2 : 0));
}

SplitRule RmsNormGradient::split(OperandTypes operands, OperandTypes results) const {
  return normGradientSplit(operands, results, axis);
}

} // namespace dfc::ops
