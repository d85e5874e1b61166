#include "ir/graph/ops/elementwise/arithmetic/div.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Div::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Div, operands, Domain::Number);
}

OpCost Div::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, divFlops);
}

} // namespace dfc::ops
