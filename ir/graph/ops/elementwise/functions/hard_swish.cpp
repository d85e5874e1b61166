#include "ir/graph/ops/elementwise/functions/hard_swish.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult HardSwish::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::HardSwish, operands, Domain::Float);
}

OpCost HardSwish::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 5);
}

} // namespace dfc::ops
