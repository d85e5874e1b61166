// log: d(log a) = da / a.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Log::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Log, operands, Domain::Float);
}

OpCost Log::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, logFlops);
}

void Log::gradient(GradientRule& rule) const { rule.give(0, rule.cotangent() / rule.operand(0)); }

} // namespace dfc::ops
