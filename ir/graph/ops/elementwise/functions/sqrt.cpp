// sqrt: d(sqrt a) = da / (2 sqrt(a)), from the result.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sqrt::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sqrt, operands, Domain::Float);
}

OpCost Sqrt::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sqrtFlops);
}

void Sqrt::gradient(GradientRule& rule) const { rule.give(0, rule.cotangent() * 0.5 / rule.result()); }

} // namespace dfc::ops
