// div: with q = a / b, d(q) = da / b - q db / b. Both terms share the quotient of the cotangent by b.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Div::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Div, operands, Domain::Number);
}

OpCost Div::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, divFlops);
}

void Div::gradient(GradientRule& rule) const {
  const Tensor quotient = rule.cotangent() / rule.operand(1);
  rule.give(0, quotient);
  if (rule.wanted(1)) {
    rule.give(1, -(quotient * rule.result()));
  }
}

} // namespace dfc::ops
