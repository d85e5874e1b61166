// xor: bits have no gradient.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Xor::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Xor, operands, Domain::Whole);
}

OpCost Xor::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
