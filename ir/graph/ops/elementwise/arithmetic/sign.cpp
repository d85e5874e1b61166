#include "ir/graph/ops/elementwise/arithmetic/sign.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sign::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sign, operands, Domain::Number);
}

OpCost Sign::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
