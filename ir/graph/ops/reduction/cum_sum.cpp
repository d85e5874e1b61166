#include "ir/graph/ops/reduction/cum_sum.h"
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

SplitRule CumSum::split(OperandTypes operands, OperandTypes results) const {
  SplitRule rule = elementwiseSplit(operands, results).with({{0}});
  for (SplitFactor& factor : rule.factors) {
    if (factor.results[0].axis == *normalAxis(axis, operands[0].shape.rank())) {
      factor.kind = SplitKind::Scan;
      factor.reverse = reverse;
    }
  }
  return rule;
}

} // namespace dfc::ops
