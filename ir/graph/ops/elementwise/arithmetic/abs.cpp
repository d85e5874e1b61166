#include "ir/graph/ops/elementwise/arithmetic/abs.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Abs::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Abs, operands, Domain::Number);
}

OpCost Abs::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
