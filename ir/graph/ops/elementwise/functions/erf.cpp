// erf: d erf(a) = 2/sqrt(pi) exp(-a^2) da.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

#include <cmath>
#include <numbers>

namespace dfc::ops {

TypeResult Erf::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Erf, operands, Domain::Float);
}

OpCost Erf::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, erfFlops);
}

void Erf::gradient(GradientRule& rule) const {
  const Tensor a = rule.operand(0);
  rule.give(0, rule.cotangent() * (2 / std::sqrt(std::numbers::pi) * exp(-(a * a))));
}

} // namespace dfc::ops
