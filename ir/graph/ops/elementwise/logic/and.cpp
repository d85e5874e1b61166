// and: bits have no gradient.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult And::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::And, operands, Domain::Whole);
}

OpCost And::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
