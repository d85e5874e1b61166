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
  if (TypeResult place = part.check("gather", whole[*normalAxis(axis, whole.rank())]); !place.ok()) {
    return place;
  }
  return resultOf(OpKind::Gather, operands, operands[0].element,
                  gatheredDims(whole, operands[1].shape, *normalAxis(axis, whole.rank())));
}

// Only what is taken is read.
OpCost Gather::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = movementCost(results);
  cost.bytes += static_cast<double>(operands[1].bytes());
  return cost;
}

// Parts of the indexed axis give 0 where an index is another part's, so that they add up.
SplitRule Gather::split(OperandTypes operands, OperandTypes results) const {
  const size_t along = *normalAxis(axis, operands[0].shape.rank()), indexRank = operands[1].shape.rank();
  SplitRule rule;
  for (size_t i = 0; i < results[0].shape.rank(); ++i) {
    SplitFactor factor(SplitKind::Free, results[0].shape[i], 2, 1);
    const bool indexed = i >= along && i < along + indexRank;
    factor.operands[indexed ? 1 : 0] = indexed     ? alongAxis(operands[1], i - along)
                                       : i < along ? alongAxis(operands[0], i)
                                                   : alongAxis(operands[0], i - indexRank + 1);
    factor.results[0] = alongAxis(results[0], i);
    rule.add(std::move(factor));
  }
  if (operands[0].element != ElementType::Bool) {
    SplitFactor table(SplitKind::Sum, operands[0].shape[along], 2, 1);
    table.operands[0] = alongAxis(operands[0], along);
    rule.add(std::move(table));
  }
  return std::move(rule).with({{0}});
}

void Gather::restrictTo(const SplitPart& given) {
  if (given.factor.kind == SplitKind::Sum) {
    const SplitAxis& at = given.factor.operands[0];
    part.restrictTo(at.elements(given.range), at.length);
  }
}

} // namespace dfc::ops
