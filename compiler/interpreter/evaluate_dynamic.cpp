// Boxes at a place that an operand says: dynamicSlice and dynamicUpdateSlice.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/dynamic_rules.h"

namespace dfc::evaluation {
namespace {

// The start indices of the slice along every axis of the operand, clamped.
Index placeOf(const Shape& whole, const Shape& box, const Dims& axes, const Literal& starts) {
  Index place(whole.rank(), 0);
  for (const MovingAxis& axis : movingAxes(whole, box, axes)) {
    place[axis.axis] =
        clampedStart(load(starts, static_cast<int64_t>(axis.start)).whole, axis.length, axis.size());
  }
  return place;
}

// Calls `visit` for each element of the slice, with its flat index in the operand and in the slice.
void forEachInBox(const Shape& whole, const Shape& box, const Index& place,
                  llvm::function_ref<void(int64_t, int64_t)> visit) {
  int64_t next = 0;
  forEachIndex(box, [&](llvm::ArrayRef<int64_t> index) {
    Index at(index.begin(), index.end());
    for (size_t axis = 0; axis < at.size(); ++axis) {
      at[axis] += place[axis];
    }
    visit(offsetOf(whole, at), next++);
  });
}

} // namespace

Literal dynamicSlice(const ops::DynamicSlice& op, Operands operands, const TensorType& type) {
  const Shape& whole = operands[0].type().shape;
  Literal result(type);
  forEachInBox(whole, type.shape, placeOf(whole, type.shape, op.axes, operands[1]),
               [&](int64_t from, int64_t to) { copyElement(result, to, operands[0], from); });
  return result;
}

Literal dynamicUpdateSlice(const ops::DynamicUpdateSlice& op, Operands operands) {
  const Shape &whole = operands[0].type().shape, &box = operands[1].type().shape;
  Literal result = operands[0];
  forEachInBox(whole, box, placeOf(whole, box, op.axes, operands[2]),
               [&](int64_t to, int64_t from) { copyElement(result, to, operands[1], from); });
  return result;
}

} // namespace dfc::evaluation
