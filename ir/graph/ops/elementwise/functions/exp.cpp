#include "ir/graph/ops/elementwise/functions/exp.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Exp::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Exp, operands, Domain::Float);
}

OpCost Exp::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, expFlops);
}

} // namespace dfc::ops
