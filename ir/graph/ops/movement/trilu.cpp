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

SplitRule Trilu::split(OperandTypes operands, OperandTypes results) const {
  return elementwiseSplit(operands, results).with({{0}});
}

void Trilu::restrictTo(const SplitPart& part) {
  const size_t axis = part.factor.results[0].axis, rank = part.operands[0].shape.rank();
  k += axis + 2 == rank ? part.range.begin : axis + 1 == rank ? -part.range.begin : 0;
}

} // namespace dfc::ops
