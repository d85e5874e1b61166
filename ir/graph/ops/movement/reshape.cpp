#include "ir/graph/ops/movement/reshape.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include <algorithm>

namespace dfc::ops {
namespace {

// The shape with -1 filled in from the number of elements; none when no whole number fits, or any would.
std::optional<Shape> filledIn(Dims dims, int64_t elements) {
  const auto rest = std::find(dims.begin(), dims.end(), -1);
  if (rest == dims.end()) {
    return Shape::valid(dims) ? std::optional(Shape(dims)) : std::nullopt;
  }
  *rest = 1;
  if (!Shape::valid(dims)) {
    return std::nullopt;
  }
  const int64_t others = Shape(dims).elements();
  if (others == 0 || elements % others != 0) {
    return std::nullopt;
  }
  *rest = elements / others;
  return Shape::valid(dims) ? std::optional(Shape(dims)) : std::nullopt;
}

} // namespace

TypeResult Reshape::types(OperandTypes operands) const {
  const TensorType& operand = operands.front();
  const std::optional<Shape> filled = filledIn(shape, operand.shape.elements());
  if (filled && filled->elements() == operand.shape.elements()) {
    return TypeResult::of({operand.element, *filled});
  }
  return TypeResult::fail(
      fmt::format("reshape of {} to [{}]: the shape does not hold {} element{}", toString(operand),
                  fmt::join(shape, ", "), operand.shape.elements(), operand.shape.elements() == 1 ? "" : "s"),
      "the product of the dimensions stays; one of them may be -1, which stands for the rest");
}

OpCost Reshape::cost(OperandTypes, OperandTypes) const { return {}; }

// Groups of axes with the same product; the leading axis of each is cut where rows of operand and result
// meet.
SplitRule Reshape::split(OperandTypes operands, OperandTypes results) const {
  const Shape &from = operands[0].shape, &to = results[0].shape;
  SplitRule rule;
  if (from.elements() == 0) {
    return rule;
  }
  for (size_t i = 0, j = 0; i < from.rank() && j < to.rank();) {
    if (from[i] == 1 || to[j] == 1) {
      i += from[i] == 1 ? 1 : 0;
      j += to[j] == 1 ? 1 : 0;
      continue;
    }
    const size_t first = i, firstMade = j;
    int64_t of = from[i++], made = to[j++];
    while (of != made) {
      (of < made ? of : made) *= of < made ? from[i++] : to[j++];
    }
    const int64_t row = of / from[first], rowMade = of / to[firstMade], step = std::lcm(row, rowMade);
    SplitFactor factor(SplitKind::Free, of / step, 1, 1);
    factor.operands[0] = groupsAlongAxis(operands[0], first, step / row);
    factor.results[0] = groupsAlongAxis(results[0], firstMade, step / rowMade);
    rule.add(std::move(factor));
  }
  return std::move(rule).with({{0}});
}

void Reshape::restrictTo(const SplitPart& part) {
  const Shape made = part.resultType(0).shape;
  shape.assign(made.dims().begin(), made.dims().end());
}

} // namespace dfc::ops
