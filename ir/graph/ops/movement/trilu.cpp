#include "ir/graph/ops/movement/trilu.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Trilu::types(OperandTypes operands) const {
  if (operands.front().shape.rank() < 2) {
    return refuse(OpKind::Trilu, operands, "the operand is no matrix",
                  "give two axes or more; the last two are rows and columns");
  }
  return TypeResult::of(operands.front());
}

OpCost Trilu::cost(OperandTypes, OperandTypes results) const { return movementCost(results); }

} // namespace dfc::ops
