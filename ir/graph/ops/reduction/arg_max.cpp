// argMax: the result is an index, so no gradient passes.
#include "ir/graph/rules/op_rules.h"

namespace dfc::ops {

TypeResult ArgMax::types(OperandTypes operands) const {
  if (TypeResult known = checkAxis(OpKind::ArgMax, operands, axis); !known.ok()) {
    return known;
  }
  TypeResult result = reductionTypes(OpKind::ArgMax, operands, {axis}, keepDims, Domain::Number, false);
  if (result.ok()) {
    result.types.front().element = ElementType::I64;
  }
  return result;
}

OpCost ArgMax::cost(OperandTypes operands, OperandTypes results) const {
  return reductionCost(operands, results);
}

// Not along the axis: of two parts the larger element decides, and it is no result.
SplitRule ArgMax::split(OperandTypes operands, OperandTypes results) const {
  const auto along = static_cast<int64_t>(*normalAxis(axis, operands[0].shape.rank()));
  return reductionSplit(operands, results, {along}, keepDims, SplitKind::Free);
}

} // namespace dfc::ops
