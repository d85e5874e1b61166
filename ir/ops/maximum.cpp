// max: the gradient goes to the larger operand, and where both are equal to the first.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Maximum::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Maximum, operands, Domain::Number);
}

OpCost Maximum::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Maximum::gradient(GradientRule& rule) const {
  const Tensor first = compare(rule.operand(0), rule.operand(1), Direction::Ge);
  if (rule.wanted(0)) {
    rule.give(0, select(first, rule.cotangent(), 0));
  }
  if (rule.wanted(1)) {
    rule.give(1, select(first, 0, rule.cotangent()));
  }
}

} // namespace dfc::ops
