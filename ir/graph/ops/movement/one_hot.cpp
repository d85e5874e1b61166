// oneHot: the operand is an index, so no gradient passes.
#include "ir/graph/rules/index_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult OneHot::types(OperandTypes operands) const {
  if (TypeResult indices = checkIndices(OpKind::OneHot, operands, 0); !indices.ok()) {
    return indices;
  }
  const Shape& shape = operands[0].shape;
  const std::optional<size_t> along = normalAxis(axis, shape.rank() + 1);
  if (!along) {
    const auto rank = static_cast<int64_t>(shape.rank());
    return refuse(OpKind::OneHot, operands, fmt::format("there is no axis {} in the result", axis),
                  fmt::format("give an axis from {} to {}", -rank - 1, rank));
  }
  if (depth < 0) {
    return refuse(OpKind::OneHot, operands, fmt::format("a depth of {}", depth),
                  "give the number of classes, 0 or more");
  }
  if (TypeResult place = part.check("oneHot", depth); !place.ok()) {
    return place;
  }
  Dims dims(shape.dims().begin(), shape.dims().end());
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(*along), depth);
  return resultOf(OpKind::OneHot, operands, to, dims);
}

OpCost OneHot::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

SplitRule OneHot::split(OperandTypes operands, OperandTypes results) const {
  const size_t along = *normalAxis(axis, results[0].shape.rank());
  SplitRule rule = sourceSplit(results[0]);
  for (SplitFactor& factor : rule.factors) {
    const size_t at = factor.results[0].axis;
    factor.operands.push_back(at == along ? SplitAxis{} : alongAxis(operands[0], at < along ? at : at - 1));
  }
  return rule;
}

void OneHot::restrictTo(const SplitPart& given) {
  const SplitAxis& at = given.factor.results[0];
  if (at.axis == *normalAxis(axis, given.results[0].shape.rank())) {
    part.restrictTo(at.elements(given.range), depth);
    depth = given.range.size();
  }
}

} // namespace dfc::ops
