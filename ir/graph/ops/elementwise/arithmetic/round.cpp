#include "ir/graph/ops/elementwise/arithmetic/round.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Round::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Round, operands, Domain::Float);
}

OpCost Round::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
