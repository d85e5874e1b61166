// reduceSum: every element of the operand gets its sum's gradient.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceSum::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceSum, operands, axes, keepDims, Domain::Number, true);
}

OpCost ReduceSum::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

void ReduceSum::gradient(GradientRule& rule) const {
  rule.give(0, stretched(rule.cotangent(), rule.operand(0).shape(), axes));
}

} // namespace dfc::ops
