// sin: d sin(a) = cos(a) da.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sin::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sin, operands, Domain::Float);
}

OpCost Sin::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sinFlops);
}

void Sin::gradient(GradientRule& rule) const { rule.give(0, rule.cotangent() * cos(rule.operand(0))); }

} // namespace dfc::ops
