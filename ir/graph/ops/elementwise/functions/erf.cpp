#include "ir/graph/ops/elementwise/functions/erf.h"
#include "ir/graph/rules/op_rules.h"

#include <cmath>
#include <numbers>

namespace dfc::ops {

TypeResult Erf::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Erf, operands, Domain::Float);
}

OpCost Erf::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, erfFlops);
}

} // namespace dfc::ops
