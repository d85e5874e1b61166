// softmaxCrossEntropyGradient: has no gradient rule, so a second derivative through it is refused by
// `gradients`.
#include "ir/graph/rules/cross_entropy_rules.h"

namespace dfc::ops {

TypeResult SoftmaxCrossEntropyGradient::types(OperandTypes operands) const {
  if (TypeResult form = crossEntropyRows(OpKind::SoftmaxCrossEntropyGradient, operands, rows); !form.ok()) {
    return form;
  }
  const ElementType logits = operands[0].element;
  const bool ofF32Loss = byteWidth(logits) == 2 && operands[2] == TensorType{ElementType::F32, {}};
  if (operands[2] != TensorType{logits, {}} && !ofF32Loss) {
    return refuse(OpKind::SoftmaxCrossEntropyGradient, operands,
                  byteWidth(logits) == 2 ? "the cotangent is no scalar of the type of the logits or of f32"
                                         : "the cotangent is no scalar of the type of the logits",
                  "give the gradient of the loss, which is one number");
  }
  return TypeResult::of(operands[0]);
}

OpCost SoftmaxCrossEntropyGradient::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, crossEntropyFlops + divFlops);
}

SplitRule SoftmaxCrossEntropyGradient::split(OperandTypes operands, OperandTypes results) const {
  SplitFactor factor(SplitKind::Free, operands[1].shape[0], 3, 1);
  factor.operands = {alongAxis(operands[0], 0), alongAxis(operands[1], 0), SplitAxis{}};
  factor.results = {alongAxis(results[0], 0)};
  SplitRule rule;
  rule.add(std::move(factor));
  return std::move(rule).with({{2}});
}

void SoftmaxCrossEntropyGradient::restrictTo(const SplitPart& part) {
  rows = rowsOfWhole(rows, part.operands);
}

} // namespace dfc::ops
