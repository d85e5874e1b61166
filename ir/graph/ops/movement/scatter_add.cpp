#include "ir/graph/ops/movement/scatter_add.h"
#include "ir/graph/rules/index_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::ops {

TypeResult ScatterAdd::types(OperandTypes operands) const {
  const TensorType &whole = operands[0], &updates = operands[2];
  if (TypeResult indices = checkIndices(OpKind::ScatterAdd, operands, 1); !indices.ok()) {
    return indices;
  }
  if (TypeResult elements = checkElements(OpKind::ScatterAdd, {whole, updates}, Domain::Number);
      !elements.ok()) {
    return refuse(OpKind::ScatterAdd, operands, "a and the updates are not numbers of one element type",
                  elements.hint);
  }
  if (TypeResult known = checkAxis(OpKind::ScatterAdd, operands, axis); !known.ok()) {
    return known;
  }
  const Dims wanted = gatheredDims(whole.shape, operands[1].shape, *normalAxis(axis, whole.shape.rank()));
  if (dimRange(updates.shape) != llvm::ArrayRef<int64_t>(wanted)) {
    return refuse(OpKind::ScatterAdd, operands,
                  Shape::valid(wanted) ? fmt::format("the updates are {}, not {}", toString(updates.shape),
                                                     toString(Shape(wanted)))
                                       : "no tensor may have the shape of the updates",
                  "give the updates the shape of gather(a, indices) along the same axis");
  }
  if (TypeResult place = part.check("scatterAdd", whole.shape[*normalAxis(axis, whole.shape.rank())]);
      !place.ok()) {
    return place;
  }
  return TypeResult::of(whole);
}

// An addition for each update. In place, which is the rule, slices without updates are neither read nor
// written.
OpCost ScatterAdd::cost(OperandTypes operands, OperandTypes) const {
  OpCost cost;
  const int64_t touched = std::min(operands[0].bytes(), operands[2].bytes());
  cost.bytes = static_cast<double>(operands[1].bytes() + operands[2].bytes() + 2 * touched);
  cost.flops = static_cast<double>(operands[2].shape.elements());
  return cost;
}

// Parts of the indexed axis take the updates whose index is theirs. Parts of the updates add up, and so must
// the tensors that they are added to.
SplitRule ScatterAdd::split(OperandTypes operands, OperandTypes results) const {
  const size_t along = *normalAxis(axis, operands[0].shape.rank()), indexRank = operands[1].shape.rank();
  SplitRule rule;
  for (size_t i = 0; i < operands[0].shape.rank(); ++i) {
    SplitFactor factor(SplitKind::Free, operands[0].shape[i], 3, 1);
    factor.operands[0] = alongAxis(operands[0], i);
    factor.results[0] = alongAxis(results[0], i);
    if (i != along) {
      factor.operands[2] = alongAxis(operands[2], i < along ? i : i + indexRank - 1);
    }
    rule.add(std::move(factor));
  }
  for (size_t i = 0; i < indexRank; ++i) {
    SplitFactor factor(SplitKind::Sum, operands[1].shape[i], 3, 1);
    factor.operands[0].form = SplitAxis::Form::Partial;
    factor.operands[1] = alongAxis(operands[1], i);
    factor.operands[2] = alongAxis(operands[2], along + i);
    rule.add(std::move(factor));
  }
  return std::move(rule).with({{0, 2}});
}

void ScatterAdd::restrictTo(const SplitPart& given) {
  const SplitAxis& at = given.factor.operands[0];
  if (at.cut() && at.axis == *normalAxis(axis, given.operands[0].shape.rank())) {
    part.restrictTo(at.elements(given.range), at.length);
  }
}

} // namespace dfc::ops
