#include "ir/graph/ops/reduction/reduce_mean.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult ReduceMean::types(OperandTypes operands) const {
  if (count < 0) {
    return refuse(OpKind::ReduceMean, operands, fmt::format("a mean of {} elements", count),
                  "give the number of elements in the whole, or leave it out");
  }
  return reductionTypes(OpKind::ReduceMean, operands, axes, keepDims, Domain::Float, false);
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
    count = part.operands[0].shape.elements() / part.results[0].shape.elements();
  }
}

} // namespace dfc::ops
