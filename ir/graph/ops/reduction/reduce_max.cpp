#include "ir/graph/ops/reduction/reduce_max.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceMax::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceMax, operands, axes, keepDims, Domain::Number, false);
}

OpCost ReduceMax::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

SplitRule ReduceMax::split(OperandTypes operands, OperandTypes results) const {
  return reductionSplit(operands, results, *normalAxes(axes, operands[0].shape.rank()), keepDims,
                        SplitKind::Max);
}

} // namespace dfc::ops
