// reciprocal: d(1/a) = -(1/a)^2 da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Reciprocal::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Reciprocal, operands, Domain::Float);
}

OpCost Reciprocal::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, divFlops);
}

void Reciprocal::gradient(GradientRule& rule) const {
  const Tensor result = rule.result();
  rule.give(0, -(rule.cotangent() * (result * result)));
}

} // namespace dfc::ops
