#include "ir/graph/ops/elementwise/arithmetic/sub.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Sub::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Sub, operands, Domain::Number);
}

OpCost Sub::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
