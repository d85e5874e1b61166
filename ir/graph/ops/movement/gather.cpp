// gather: the gradient of every slice goes back to where the slice came from; slices that were taken several
// times add up. Indices have none.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradients.h"
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

void Gather::gradient(GradientRule& rule) const {
  rule.independentOf(1);
  if (rule.wanted(0)) {
    const Tensor zeros = zerosOf(rule.builder(), rule.operand(0).type());
    rule.give(0, dfc::scatterAdd(zeros, rule.operand(1), rule.cotangent(), axis));
  }
}

} // namespace dfc::ops
