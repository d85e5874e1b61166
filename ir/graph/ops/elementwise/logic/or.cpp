// or: bits have no gradient.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Or::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Or, operands, Domain::Whole);
}

OpCost Or::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
