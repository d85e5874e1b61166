// constant: resident before the first step, so a step pays nothing for it.
#include "ir/graph/rules/op_rules.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

TypeResult Constant::types(OperandTypes) const { return TypeResult::of(value.type()); }

OpCost Constant::cost(OperandTypes, OperandTypes) const { return {}; }

SplitRule Constant::split(OperandTypes, OperandTypes results) const { return sourceSplit(results[0]); }

void Constant::restrictTo(const SplitPart& part) {
  const SplitAxis& at = part.factor.results[0];
  value = sliced(value, at.axis, at.elements(part.range));
}

} // namespace dfc::ops
