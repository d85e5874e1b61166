#include "ir/graph/ops/elementwise/arithmetic/ceil.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Ceil::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Ceil, operands, Domain::Float);
}

OpCost Ceil::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
