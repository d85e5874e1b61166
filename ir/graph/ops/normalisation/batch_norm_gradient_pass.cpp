#include "ir/graph/ops/normalisation/batch_norm_gradient_pass.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc::ops {

TypeResult BatchNormGradientPass::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::BatchNormGradientPass;
  if (TypeResult checked = checkBatchNorm(kind, operands, 3, axis, epsilon); !checked.ok()) {
    return checked;
  }
  if (TypeResult checked = checkChannelSums(kind, operands, 5, axis, count); !checked.ok()) {
    return checked;
  }
  if (!(operands[4] == operands[0])) {
    return refuse(kind, operands, "the cotangent has not the shape of the first operand",
                  "give the gradient of the norm's result");
  }
  if ((operands.size() == 7) != relu || (relu && !(operands[6] == operands[0]))) {
    return refuse(kind, operands, "the result of a norm with relu is missing, or one too many",
                  "give it as operand 6 with relu=true, and none without");
  }
  TypeResult result = TypeResult::of(operands[0]);
  if (addend) {
    result.types.push_back(operands[0]);
  }
  return result;
}

OpCost BatchNormGradientPass::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 6);
}

SplitRule BatchNormGradientPass::split(OperandTypes operands, OperandTypes results) const {
  return batchNormPassSplit(operands, results, axis, {0, 4, 6}, 5);
}

} // namespace dfc::ops
