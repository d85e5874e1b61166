// ceil: flat wherever it has a derivative.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Ceil::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Ceil, operands, Domain::Float);
}

OpCost Ceil::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void Ceil::gradient(GradientRule& rule) const { rule.independentOf(0); }

} // namespace dfc::ops
