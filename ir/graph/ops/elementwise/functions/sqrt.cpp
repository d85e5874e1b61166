#include "ir/graph/ops/elementwise/functions/sqrt.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sqrt::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sqrt, operands, Domain::Float);
}

OpCost Sqrt::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sqrtFlops);
}

} // namespace dfc::ops
