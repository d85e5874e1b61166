#include "ir/graph/ops/movement/reshape.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

} // namespace dfc::ops
