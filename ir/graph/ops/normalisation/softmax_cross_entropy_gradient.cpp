// softmaxCrossEntropyGradient: has no gradient rule, so a second derivative through it is refused by
// `gradients`.
#include "ir/graph/rules/cross_entropy_rules.h"

namespace dfc::ops {

TypeResult SoftmaxCrossEntropyGradient::types(OperandTypes operands) const {
  TypeResult rows = crossEntropyRows(OpKind::SoftmaxCrossEntropyGradient, operands);
  if (!rows.ok()) {
    return rows;
  }
  if (operands[2] != TensorType{operands[0].element, {}}) {
    return refuse(OpKind::SoftmaxCrossEntropyGradient, operands,
                  "the cotangent is no scalar of the type of the logits",
                  "give the gradient of the loss, which is one number");
  }
  return TypeResult::of(operands[0]);
}

OpCost SoftmaxCrossEntropyGradient::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, crossEntropyFlops + divFlops);
}

} // namespace dfc::ops
