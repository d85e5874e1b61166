#include "ir/graph/ops/elementwise/arithmetic/minimum.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Minimum::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Minimum, operands, Domain::Number);
}

OpCost Minimum::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
