// cos: d cos(a) = -sin(a) da.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Cos::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Cos, operands, Domain::Float);
}

OpCost Cos::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sinFlops);
}

void Cos::gradient(GradientRule& rule) const { rule.give(0, -(rule.cotangent() * sin(rule.operand(0)))); }

} // namespace dfc::ops
