#include "ir/graph/ops/elementwise/arithmetic/mul.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Mul::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Mul, operands, Domain::Number);
}

OpCost Mul::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
