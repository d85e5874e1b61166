#include "ir/graph/ops/elementwise/functions/cos.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Cos::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Cos, operands, Domain::Float);
}

OpCost Cos::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sinFlops);
}

} // namespace dfc::ops
