// softmaxCrossEntropy: the gradient for the logits is an op of its own; labels have none.
#include "ir/graph/rules/cross_entropy_rules.h"
#include "ir/author/gradients.h"

namespace dfc::ops {

TypeResult SoftmaxCrossEntropy::types(OperandTypes operands) const {
  TypeResult rows = crossEntropyRows(OpKind::SoftmaxCrossEntropy, operands);
  return rows.ok() ? TypeResult::of({operands[0].element, {}}) : rows;
}

OpCost SoftmaxCrossEntropy::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = crossEntropyFlops * static_cast<double>(operands[0].shape.elements());
  return cost;
}

void SoftmaxCrossEntropy::gradient(GradientRule& rule) const {
  rule.give(0, rule.builder().op(SoftmaxCrossEntropyGradient{},
                                 {rule.operand(0), rule.operand(1), rule.cotangent()},
                                 std::source_location::current()));
}

} // namespace dfc::ops
