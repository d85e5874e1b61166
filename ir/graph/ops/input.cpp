// input: its bytes are written once, when they are fed.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Input::types(OperandTypes) const { return TypeResult::of(type); }

OpCost Input::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 0);
}

SplitRule Input::split(OperandTypes, OperandTypes results) const { return sourceSplit(results[0]); }

void Input::restrictTo(const SplitPart& part) { type = part.resultType(0); }

} // namespace dfc::ops
