#include "ir/graph/ops/elementwise/functions/relu.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Relu::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Relu, operands, Domain::Number);
}

OpCost Relu::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
