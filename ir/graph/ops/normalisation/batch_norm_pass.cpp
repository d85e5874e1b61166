#include "ir/graph/ops/normalisation/batch_norm_pass.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc::ops {

TypeResult BatchNormPass::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::BatchNormPass;
  if (TypeResult checked = checkBatchNorm(kind, operands, 2, axis, epsilon); !checked.ok()) {
    return checked;
  }
  if (TypeResult checked = checkChannelSums(kind, operands, 3, axis, count); !checked.ok()) {
    return checked;
  }
  if (operands.size() == 5 && !(operands[4] == operands[0])) {
    return refuse(kind, operands, "the addend has not the type of the first operand", "cast or broadcast it");
  }
  return TypeResult::of(operands[0]);
}

OpCost BatchNormPass::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 3);
}

SplitRule BatchNormPass::split(OperandTypes operands, OperandTypes results) const {
  return batchNormPassSplit(operands, results, axis, {0, 4}, 3);
}

} // namespace dfc::ops
