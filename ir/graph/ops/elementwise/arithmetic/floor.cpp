#include "ir/graph/ops/elementwise/arithmetic/floor.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Floor::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Floor, operands, Domain::Float);
}

OpCost Floor::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
