#include "ir/graph/ops/normalisation/layer_norm.h"
#include "ir/graph/rules/norm_rules.h"

namespace dfc::ops {

TypeResult LayerNorm::types(OperandTypes operands) const {
  return normTypes(OpKind::LayerNorm, operands, axis, epsilon, result);
}

// For each element: the mean, the difference, its square, the sum of those, the root's share, scale and bias.
OpCost LayerNorm::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 7);
}

SplitRule LayerNorm::split(OperandTypes operands, OperandTypes results) const {
  return normSplit(operands, results, axis);
}

} // namespace dfc::ops
