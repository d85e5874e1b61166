// silu: d(a s(a)) = (s(a) + a s(a) (1 - s(a))) da.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Silu::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Silu, operands, Domain::Float);
}

OpCost Silu::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sigmoidFlops + 1);
}

void Silu::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0), s = sigmoid(a);
  rule.give(0, rule.cotangent() * (s + a * (s * (1 - s))));
}

} // namespace dfc::ops
