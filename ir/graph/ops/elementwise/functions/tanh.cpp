// tanh: d(tanh a) = (1 - tanh(a)^2) da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Tanh::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Tanh, operands, Domain::Float);
}

OpCost Tanh::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, tanhFlops);
}

void Tanh::gradient(GradientRule& rule) const {
  const Tensor result = rule.result();
  rule.give(0, rule.cotangent() * (1 - result * result));
}

} // namespace dfc::ops
