// compare: the result is bool, so no gradient passes.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

void Compare::fields(AttributeVisitor& visitor) {
  auto chosen = static_cast<uint8_t>(direction);
  visitor.choice("direction", chosen, directionNames, Presence::Required);
  direction = static_cast<Direction>(chosen);
}

TypeResult Compare::types(OperandTypes operands) const {
  if (static_cast<size_t>(direction) >= directionNames.size()) {
    return refuse(OpKind::Compare, operands, "unknown direction", "it is one of eq, ne, lt, le, gt, ge");
  }
  TypeResult elements = checkElements(OpKind::Compare, operands, Domain::Any);
  return elements.ok() ? broadcastTypes(OpKind::Compare, operands, ElementType::Bool) : elements;
}

OpCost Compare::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

} // namespace dfc::ops
