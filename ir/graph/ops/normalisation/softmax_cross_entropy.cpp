#include "ir/graph/ops/normalisation/softmax_cross_entropy.h"
#include "ir/graph/rules/cross_entropy_rules.h"

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

} // namespace dfc::ops
