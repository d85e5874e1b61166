#include "ir/graph/ops/elementwise/arithmetic/pow.h"
#include "ir/graph/rules/op_rules.h"

#include <limits>

namespace dfc::ops {

TypeResult Pow::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Pow, operands, Domain::Float);
}

OpCost Pow::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, powFlops);
}

} // namespace dfc::ops
