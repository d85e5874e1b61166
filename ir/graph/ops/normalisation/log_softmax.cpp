#include "ir/graph/ops/normalisation/log_softmax.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult LogSoftmax::types(OperandTypes operands) const {
  if (TypeResult elements = checkElements(OpKind::LogSoftmax, operands, Domain::Float); !elements.ok()) {
    return elements;
  }
  TypeResult known = checkAxis(OpKind::LogSoftmax, operands, axis);
  return known.ok() ? TypeResult::of(operands.front()) : known;
}

// For each element: the maximum, two differences, exp and the sum; the logarithm of a row's sum is lost
// beside them.
OpCost LogSoftmax::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 4 + expFlops);
}

// Not along the axis: maximum and sum are of the whole row.
SplitRule LogSoftmax::split(OperandTypes operands, OperandTypes results) const {
  return otherAxesSplit(operands, results, axis);
}

} // namespace dfc::ops
