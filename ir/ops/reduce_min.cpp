// reduceMin: the gradient goes to the smallest element; several that are equally small share it evenly.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceMin::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceMin, operands, axes, keepDims, Domain::Number, false);
}

OpCost ReduceMin::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

void ReduceMin::gradient(GradientRule& rule) const {
  const Tensor operand = rule.operand(0);
  const Tensor smallest = withAxesKept(rule.result(), operand.shape(), axes);
  const Tensor isSmallest = compare(operand, smallest, Direction::Eq);
  const Tensor count = reduceSum(cast(isSmallest, operand.type().element), axes, true);
  const Tensor share = withAxesKept(rule.cotangent(), operand.shape(), axes) / count;
  rule.give(0, select(isSmallest, share, 0));
}

} // namespace dfc::ops
