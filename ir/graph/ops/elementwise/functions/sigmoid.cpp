// sigmoid: d(s(a)) = s(a) (1 - s(a)) da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sigmoid::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sigmoid, operands, Domain::Float);
}

OpCost Sigmoid::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sigmoidFlops);
}

void Sigmoid::gradient(GradientRule& rule) const {
  const Tensor result = rule.result();
  rule.give(0, rule.cotangent() * (result * (1 - result)));
}

} // namespace dfc::ops
