#include "ir/graph/ops/elementwise/functions/rsqrt.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Rsqrt::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Rsqrt, operands, Domain::Float);
}

OpCost Rsqrt::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, sqrtFlops + divFlops);
}

} // namespace dfc::ops
