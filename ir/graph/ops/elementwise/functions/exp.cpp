// exp: d(exp a) = exp(a) da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Exp::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Exp, operands, Domain::Float);
}

OpCost Exp::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, expFlops);
}

void Exp::gradient(GradientRule& rule) const { rule.give(0, rule.cotangent() * rule.result()); }

} // namespace dfc::ops
