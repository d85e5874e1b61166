#include "ir/graph/ops/movement/tile.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::ops {

TypeResult Tile::types(OperandTypes operands) const {
  const TensorType& operand = operands.front();
  if (repeats.size() != operand.shape.rank()) {
    return refuse(OpKind::Tile, operands,
                  fmt::format("{} repeats for {} axes", repeats.size(), operand.shape.rank()),
                  "give one number of repeats for each axis");
  }
  Dims dims;
  for (size_t axis = 0; axis < repeats.size(); ++axis) {
    int64_t length = 0;
    if (repeats[axis] < 0) {
      return refuse(OpKind::Tile, operands, fmt::format("{} repeats of axis {}", repeats[axis], axis),
                    "repeat an axis 0 times or more");
    }
    const bool overflow = __builtin_mul_overflow(operand.shape[axis], repeats[axis], &length);
    dims.push_back(overflow ? -1 : length); // -1 is refused below as no shape
  }
  return resultOf(OpKind::Tile, operands, operand.element, dims);
}

OpCost Tile::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 0);
}

SplitRule Tile::split(OperandTypes operands, OperandTypes results) const {
  SplitRule rule;
  for (size_t axis = 0; axis < repeats.size(); ++axis) {
    const int64_t length = operands[0].shape[axis];
    const bool once = repeats[axis] == 1;
    SplitFactor factor(SplitKind::Free, once ? length : repeats[axis], 1, 1);
    if (once) {
      factor.operands[0] = alongAxis(operands[0], axis);
    }
    factor.results[0] = groupsAlongAxis(results[0], axis, once ? 1 : length);
    rule.add(std::move(factor));
  }
  return std::move(rule).with({{0}});
}

void Tile::restrictTo(const SplitPart& part) {
  if (!part.factor.operands[0].cut()) {
    repeats[part.factor.results[0].axis] = part.range.size();
  }
}

} // namespace dfc::ops
