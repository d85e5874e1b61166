#include "ir/graph/ops/normalisation/batch_norm.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc::ops {

TypeResult BatchNorm::types(OperandTypes operands) const {
  TypeResult checked = checkBatchNorm(OpKind::BatchNorm, operands, 4, axis, epsilon);
  return checked.ok() ? TypeResult::of(operands[0]) : checked;
}

// A difference, a product and a sum for each element; a factor for each channel.
OpCost BatchNorm::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 3);
  cost.flops += (1 + sqrtFlops + divFlops) * static_cast<double>(operands[1].shape.elements());
  return cost;
}

SplitRule BatchNorm::split(OperandTypes operands, OperandTypes results) const {
  return batchNormSplit(operands, results, axis, false);
}

} // namespace dfc::ops
