#include "ir/graph/ops/normalisation/softmax.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Softmax::types(OperandTypes operands) const {
  if (TypeResult elements = checkElements(OpKind::Softmax, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  TypeResult known = checkAxis(OpKind::Softmax, operands, axis);
  return known.ok() ? TypeResult::of(operands.front()) : known;
}

// For each element: the maximum, the difference, exp, the sum and the quotient.
OpCost Softmax::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 3 + expFlops + divFlops);
}

// Not along the axis: maximum and sum are of the whole row.
SplitRule Softmax::split(OperandTypes operands, OperandTypes results) const {
  return otherAxesSplit(operands, results, axis);
}

} // namespace dfc::ops
