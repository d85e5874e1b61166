#include "ir/graph/ops/reduction/reduce_sum.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceSum::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceSum, operands, axes, keepDims, Domain::Number, true);
}

OpCost ReduceSum::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

SplitRule ReduceSum::split(OperandTypes operands, OperandTypes results) const {
  return reductionSplit(operands, results, *normalAxes(axes, operands[0].shape.rank()), keepDims,
                        SplitKind::Sum)
      .with({{0}});
}

} // namespace dfc::ops
