// rsqrt: d(a^-1/2) = -1/2 a^-1/2 / a da, from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Rsqrt::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Rsqrt, operands, Domain::Float);
}

OpCost Rsqrt::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sqrtFlops + divFlops);
}

void Rsqrt::gradient(GradientRule& rule) const {
  const Tensor result = rule.result();
  rule.give(0, rule.cotangent() * (-0.5 * (result / rule.operand(0))));
}

} // namespace dfc::ops
