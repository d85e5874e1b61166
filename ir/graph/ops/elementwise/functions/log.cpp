#include "ir/graph/ops/elementwise/functions/log.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult Log::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::Log, operands, Domain::Float);
}

OpCost Log::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, logFlops);
}

} // namespace dfc::ops
