#include "ir/graph/ops/elementwise/functions/sigmoid.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sigmoid::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sigmoid, operands, Domain::Float);
}

OpCost Sigmoid::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sigmoidFlops);
}

} // namespace dfc::ops
