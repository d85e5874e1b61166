// not: bits have no gradient.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Not::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Not, operands, Domain::Whole);
}

OpCost Not::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
