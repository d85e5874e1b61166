#include "ir/graph/ops/elementwise/arithmetic/reciprocal.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Reciprocal::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Reciprocal, operands, Domain::Float);
}

OpCost Reciprocal::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, divFlops);
}

} // namespace dfc::ops
