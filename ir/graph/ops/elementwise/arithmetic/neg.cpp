#include "ir/graph/ops/elementwise/arithmetic/neg.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Neg::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Neg, operands, Domain::Number);
}

OpCost Neg::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
