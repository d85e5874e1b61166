#include "ir/graph/ops/normalisation/batch_norm_gradient.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc::ops {

TypeResult BatchNormGradient::types(OperandTypes operands) const {
  constexpr OpKind kind = OpKind::BatchNormGradient;
  if (TypeResult checked = checkBatchNorm(kind, operands, 3, axis, epsilon); !checked.ok()) {
    return checked;
  }
  if (!(operands[4] == operands[0])) {
    return refuse(kind, operands, "the cotangent has not the shape of the first operand",
                  "give the gradient of batchNormTraining's first result");
  }
  if ((operands.size() == 6) != relu || (relu && !(operands[5] == operands[0]))) {
    return refuse(kind, operands, "the result of a batchNormTraining with relu is missing, or one too many",
                  "give its first result as operand 5 with relu=true, and none without");
  }
  if (TypeResult checked = checkChannelElements(kind, operands, axis); !checked.ok()) {
    return checked;
  }
  TypeResult result{{operands[0], operands[1], operands[1]}, {}, {}};
  if (addend) {
    result.types.push_back(operands[0]);
  }
  return result;
}

// Two sums with a difference and two products; then two products, two differences and a product. The sums
// come before the first result, so that the operands are read twice.
OpCost BatchNormGradient::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 5 + 6);
  for (const TensorType& type : operands) {
    cost.bytes += static_cast<double>(type.bytes());
  }
  return cost;
}

SplitRule BatchNormGradient::split(OperandTypes operands, OperandTypes results) const {
  return batchNormSplit(operands, results, axis, true).with({{4}});
}

} // namespace dfc::ops
