#include "ir/graph/rules/dynamic_rules.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {

std::optional<Dims> startedAxes(const Dims& written, size_t rank) {
  Dims axes;
  for (size_t i = 0; i < (written.empty() ? rank : written.size()); ++i) {
    const auto axis = normalAxis(written.empty() ? static_cast<int64_t>(i) : written[i], rank);
    if (!axis || llvm::is_contained(axes, static_cast<int64_t>(*axis))) {
      return std::nullopt;
    }
    axes.push_back(static_cast<int64_t>(*axis));
  }
  return axes;
}

TypeResult checkStarts(OpKind kind, OperandTypes operands, size_t which, const Dims& axes) {
  const TensorType& starts = operands[which];
  const auto rank = operands[0].shape.rank();
  if (starts.element != ElementType::I32 && starts.element != ElementType::I64) {
    return refuse(kind, operands, fmt::format("the starts are {}, not i32 or i64", name(starts.element)),
                  "cast the starts to i64");
  }
  const auto known = startedAxes(axes, rank);
  if (!known) {
    return refuse(kind, operands, fmt::format("{} axes, of which one is no axis, or is named twice", rank),
                  fmt::format("give different axes from {} to {}", -static_cast<int64_t>(rank),
                              static_cast<int64_t>(rank) - 1));
  }
  const auto count = static_cast<int64_t>(known->size());
  if (!(starts.shape == Shape{count} || (count == 1 && starts.shape.rank() == 0))) {
    return refuse(kind, operands,
                  fmt::format("starts of shape {} for {} axes", toString(starts.shape), count),
                  "give a vector with a start for each axis, or a scalar for one axis");
  }
  return {};
}

llvm::SmallVector<MovingAxis, 4> movingAxes(const Shape& whole, const Shape& box, const Dims& axes) {
  const Dims started = *startedAxes(axes, whole.rank());
  llvm::SmallVector<MovingAxis, 4> moving;
  for (size_t i = 0; i < started.size(); ++i) {
    const auto axis = static_cast<size_t>(started[i]);
    int64_t stride = 1;
    for (size_t inner = axis + 1; inner < whole.rank(); ++inner) {
      stride *= whole[inner];
    }
    if (box[axis] != whole[axis]) {
      moving.push_back({i, axis, whole[axis] - box[axis], stride, whole[axis]});
    }
  }
  return moving;
}

int64_t contiguousElements(const Shape& whole, const Shape& box) {
  int64_t run = 1;
  for (size_t axis = whole.rank(); axis-- > 0 && whole[axis] == box[axis];) {
    run *= whole[axis];
  }
  return run;
}

SplitRule boxSplit(OperandTypes operands, OperandTypes results, const Dims& axes) {
  const size_t rank = operands[0].shape.rank();
  const Dims started = *startedAxes(axes, rank);
  SplitRule rule;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (llvm::is_contained(started, static_cast<int64_t>(axis))) {
      continue;
    }
    SplitFactor factor(SplitKind::Free, operands[0].shape[axis], operands.size(), 1);
    for (size_t i = 0; i + 1 < operands.size(); ++i) { // the starts, the last operand, are whole
      factor.operands[i] = alongAxis(operands[i], axis);
    }
    factor.results[0] = alongAxis(results[0], axis);
    rule.add(std::move(factor));
  }
  return rule;
}

} // namespace dfc
