#include "ir/graph/ops/elementwise/functions/leaky_relu.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult LeakyRelu::types(OperandTypes operands) const {
  return elementwiseTypes(OpKind::LeakyRelu, operands, Domain::Float);
}

OpCost LeakyRelu::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 2);
}

} // namespace dfc::ops
