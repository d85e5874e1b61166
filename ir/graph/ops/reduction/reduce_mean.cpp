#include "ir/graph/ops/reduction/reduce_mean.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceMean::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceMean, operands, axes, keepDims, Domain::Float, false);
}

OpCost ReduceMean::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = reductionCost(operands, results);
  cost.flops += divFlops * static_cast<double>(results.front().shape.elements());
  return cost;
}

} // namespace dfc::ops
