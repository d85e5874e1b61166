#include "ir/graph/ops/reduction/reduce_mean.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceMean::types(OperandTypes operands) const {
  TypeResult types = reductionTypes(OpKind::ReduceMean, operands, axes, keepDims, Domain::Float, false);
  if (!types.ok()) {
    return types;
  }
  const Shape& shape = operands[0].shape;
  TypeResult counted =
      checkMeanCount(OpKind::ReduceMean, operands, shape, *normalAxes(axes, shape.rank()), count);
  return counted.ok() ? types : counted;
}

OpCost ReduceMean::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = reductionCost(operands, results);
  cost.flops += divFlops * static_cast<double>(results.front().shape.elements());
  return cost;
}

SplitRule ReduceMean::split(OperandTypes operands, OperandTypes results) const {
  return reductionSplit(operands, results, *normalAxes(axes, operands[0].shape.rank()), keepDims,
                        SplitKind::Sum)
      .with({{0}});
}

void ReduceMean::restrictTo(const SplitPart& part) {
  if (part.factor.kind == SplitKind::Sum && count == 0) {
    const Shape& shape = part.operands[0].shape;
    count = reducedLength(shape, *normalAxes(axes, shape.rank()));
  }
}

} // namespace dfc::ops
