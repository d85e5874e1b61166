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

} // namespace dfc::ops
