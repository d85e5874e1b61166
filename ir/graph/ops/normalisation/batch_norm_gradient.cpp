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
  if (TypeResult checked = checkChannelElements(kind, operands, axis); !checked.ok()) {
    return checked;
  }
  return {{operands[0], operands[1], operands[1]}, {}, {}};
}

// Two sums with a difference and two products; then two products, two differences and a product.
OpCost BatchNormGradient::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 5 + 6);
}

} // namespace dfc::ops
