// layerNorm: rules shared with rmsNorm are in ir/norm_rules.h.
#include "ir/norm_rules.h"

namespace dfc::ops {

TypeResult LayerNorm::types(OperandTypes operands) const {
  return normTypes(OpKind::LayerNorm, operands, axis, epsilon);
}

// For each element: the mean, the difference, its square, the sum of those, the root's share, scale and bias.
OpCost LayerNorm::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 7);
}

void LayerNorm::gradient(GradientRule& rule) const { giveNormGradients(rule, epsilon, true); }

} // namespace dfc::ops
