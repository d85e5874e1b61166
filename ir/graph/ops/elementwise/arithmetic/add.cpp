#include "ir/graph/ops/elementwise/arithmetic/add.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Add::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Add, operands, Domain::Number);
}

OpCost Add::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
