// neg: d(-a) = -da.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Neg::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Neg, operands, Domain::Number);
}

OpCost Neg::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Neg::gradient(GradientRule& rule) const { rule.give(0, -rule.cotangent()); }

} // namespace dfc::ops
