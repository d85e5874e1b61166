#include "ir/graph/ops/elementwise/arithmetic/maximum.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Maximum::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Maximum, operands, Domain::Number);
}

OpCost Maximum::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
