#include "ir/graph/ops/elementwise/functions/sin.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sin::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sin, operands, Domain::Float);
}

OpCost Sin::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sinFlops);
}

} // namespace dfc::ops
