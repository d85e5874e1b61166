// input: its bytes are written once, when they are fed.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Input::types(OperandTypes) const {
  TypeResult place = part.check("input", type.shape);
  return place.ok() ? TypeResult::of(type) : place;
}

OpCost Input::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 0);
}

SplitRule Input::split(OperandTypes, OperandTypes results) const { return sourceSplit(results[0]); }

void Input::restrictTo(const SplitPart& part) { type = part.resultType(0); }

} // namespace dfc::ops
