// softplus: its slope is the sigmoid.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Softplus::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Softplus, operands, Domain::Float);
}

OpCost Softplus::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, expFlops + logFlops + 3);
}

void Softplus::gradient(GradientRule& rule) const {
  rule.give(0, rule.cotangent() * sigmoid(rule.operand(0)));
}

} // namespace dfc::ops
