#include "ir/graph/ops/reduction/reduce_min.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceMin::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceMin, operands, axes, keepDims, Domain::Number, false);
}

OpCost ReduceMin::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

SplitRule ReduceMin::split(OperandTypes operands, OperandTypes results) const {
  return reductionSplit(operands, results, *normalAxes(axes, operands[0].shape.rank()), keepDims,
                        SplitKind::Min);
}

} // namespace dfc::ops
