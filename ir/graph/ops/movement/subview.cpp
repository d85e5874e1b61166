#include "ir/graph/ops/movement/subview.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult Subview::types(OperandTypes operands) const {
  const TensorType& operand = operands.front();
  if (!Shape::valid(shape) || start < 0 || start > operand.shape.elements() ||
      Shape(shape).elements() > operand.shape.elements() - start) {
    return refuse(OpKind::Subview, operands,
                  fmt::format("{} elements from element {} are not among its {}",
                              Shape::valid(shape) ? std::to_string(Shape(shape).elements()) : "too many",
                              start, operand.shape.elements()),
                  "start is 0 or more, and the shape ends within the operand");
  }
  if (start * byteWidth(operand.element) % subviewAlignment != 0) {
    return refuse(
        OpKind::Subview, operands,
        fmt::format("element {} is {} bytes behind the first", start, start * byteWidth(operand.element)),
        fmt::format("start at a multiple of {} bytes, or use slice, which copies", subviewAlignment));
  }
  return TypeResult::of({operand.element, Shape(shape)});
}

OpCost Subview::cost(OperandTypes, OperandTypes) const { return {}; }

SplitRule Subview::split(OperandTypes, OperandTypes) const { return {}; }

} // namespace dfc::ops
