#include "ir/graph/ops/movement/gather.h"
#include "ir/graph/rules/index_rules.h"

namespace dfc::ops {

TypeResult Gather::types(OperandTypes operands) const {
  if (TypeResult indices = checkIndices(OpKind::Gather, operands, 1); !indices.ok()) {
    return indices;
  }
  if (TypeResult known = checkAxis(OpKind::Gather, operands, axis); !known.ok()) {
    return known;
  }
  const Shape& whole = operands[0].shape;
  return resultOf(OpKind::Gather, operands, operands[0].element,
                  gatheredDims(whole, operands[1].shape, *normalAxis(axis, whole.rank())));
}

// Only what is taken is read.
OpCost Gather::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = movementCost(results);
  cost.bytes += static_cast<double>(operands[1].bytes());
  return cost;
}

} // namespace dfc::ops
