// abs: d|a| = sign(a) da, and 0 at 0.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Abs::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Abs, operands, Domain::Number);
}

OpCost Abs::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Abs::gradient(GradientRule& rule) const { rule.give(0, rule.cotangent() * sign(rule.operand(0))); }

} // namespace dfc::ops
