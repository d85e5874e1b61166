#include "ir/graph/ops/elementwise/functions/tanh.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Tanh::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Tanh, operands, Domain::Float);
}

OpCost Tanh::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, tanhFlops);
}

} // namespace dfc::ops
