#include "ir/graph/ops/elementwise/functions/silu.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Silu::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Silu, operands, Domain::Float);
}

OpCost Silu::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sigmoidFlops + 1);
}

} // namespace dfc::ops
