// mul: d(a b) = b da + a db.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Mul::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Mul, operands, Domain::Number);
}

OpCost Mul::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Mul::gradient(GradientRule& rule) const {
  if (rule.wanted(0)) {
    rule.give(0, rule.cotangent() * rule.operand(1));
  }
  if (rule.wanted(1)) {
    rule.give(1, rule.cotangent() * rule.operand(0));
  }
}

} // namespace dfc::ops
