#include "ir/graph/ops/movement/broadcast.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfc::ops {

TypeResult Broadcast::types(OperandTypes operands) const {
  const TensorType& operand = operands.front();
  if (Shape::valid(shape) && broadcastShapes(operand.shape, Shape(shape)) == Shape(shape)) {
    return TypeResult::of({operand.element, Shape(shape)});
  }
  return TypeResult::fail(fmt::format("broadcast of {} to [{}]: it does not stretch to that",
                                      toString(operand), fmt::join(shape, ", ")),
                          "axes align at the last one, and only a dimension of 1 stretches");
}

OpCost Broadcast::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 0);
}

SplitRule Broadcast::split(OperandTypes operands, OperandTypes results) const {
  return elementwiseSplit(operands, results).with({{0}});
}

void Broadcast::restrictTo(const SplitPart& part) {
  const Shape made = part.resultType(0).shape;
  shape.assign(made.dims().begin(), made.dims().end());
}

} // namespace dfc::ops
