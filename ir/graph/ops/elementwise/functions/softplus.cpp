#include "ir/graph/ops/elementwise/functions/softplus.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Softplus::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Softplus, operands, Domain::Float);
}

OpCost Softplus::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, expFlops + logFlops + 3);
}

} // namespace dfc::ops
