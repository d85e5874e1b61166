// cumSum: an element is in the sums of all that come at or after it (after it, where sums are exclusive), so
// its gradient is the running sum of theirs, the other way round.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult CumSum::types(OperandTypes operands) const {
  if (TypeResult elements = checkElements(OpKind::CumSum, operands, Domain::Number); !elements.ok()) {
    return elements;
  }
  TypeResult known = checkAxis(OpKind::CumSum, operands, axis);
  return known.ok() ? TypeResult::of(operands.front()) : known;
}

OpCost CumSum::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

void CumSum::gradient(GradientRule& rule) const {
  Running other;
  other.exclusive = exclusive;
  other.reverse = !reverse;
  rule.give(0, cumSum(rule.cotangent(), axis, other));
}

} // namespace dfc::ops
