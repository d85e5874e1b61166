// reduceMax: the gradient goes to the largest element; several that are equally large share it evenly.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceMax::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceMax, operands, axes, keepDims, Domain::Number, false);
}

OpCost ReduceMax::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

void ReduceMax::gradient(GradientRule& rule) const {
  const Tensor operand = rule.operand(0);
  const Tensor largest = withAxesKept(rule.result(), operand.shape(), axes);
  const Tensor isLargest = compare(operand, largest, Direction::Eq);
  const Tensor count = reduceSum(cast(isLargest, operand.type().element), axes, true);
  const Tensor share = withAxesKept(rule.cotangent(), operand.shape(), axes) / count;
  rule.give(0, select(isLargest, share, 0));
}

} // namespace dfc::ops
