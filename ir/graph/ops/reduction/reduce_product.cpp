#include "ir/graph/ops/reduction/reduce_product.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ReduceProduct::types(OperandTypes operands) const {
  return reductionTypes(OpKind::ReduceProduct, operands, axes, keepDims, Domain::Number, true);
}

OpCost ReduceProduct::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

SplitRule ReduceProduct::split(OperandTypes operands, OperandTypes results) const {
  return reductionSplit(operands, results, *normalAxes(axes, operands[0].shape.rank()), keepDims,
                        SplitKind::Product);
}

} // namespace dfc::ops
