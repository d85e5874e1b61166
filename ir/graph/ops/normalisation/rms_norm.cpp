#include "ir/graph/ops/normalisation/rms_norm.h"
#include "ir/graph/rules/norm_rules.h"

namespace dfc::ops {

TypeResult RmsNorm::types(OperandTypes operands) const {
  return normTypes(OpKind::RmsNorm, operands, axis, epsilon, result);
}

// For each element: its square, the sum of those, the root's share and the scale.
OpCost RmsNorm::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 4);
}

SplitRule RmsNorm::split(OperandTypes operands, OperandTypes results) const {
  return normSplit(operands, results, axis);
}

} // namespace dfc::ops
