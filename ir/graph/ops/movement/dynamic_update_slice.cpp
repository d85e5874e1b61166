#include "ir/graph/ops/movement/dynamic_update_slice.h"
#include "ir/graph/rules/dynamic_rules.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc::ops {

TypeResult DynamicUpdateSlice::types(OperandTypes operands) const {
  if (TypeResult starts = checkStarts(OpKind::DynamicUpdateSlice, operands, 2, axes); !starts.ok()) {
    return starts;
  }
  const TensorType &whole = operands[0], &update = operands[1];
  if (whole.element != update.element || whole.shape.rank() != update.shape.rank()) {
    return refuse(OpKind::DynamicUpdateSlice, operands,
                  fmt::format("the update is {}, which has another element type or rank", toString(update)),
                  "cast or reshape the update");
  }
  const Dims started = *startedAxes(axes, whole.shape.rank());
  for (size_t axis = 0; axis < whole.shape.rank(); ++axis) {
    const bool moves = llvm::is_contained(started, static_cast<int64_t>(axis));
    if (moves ? update.shape[axis] > whole.shape[axis] : update.shape[axis] != whole.shape[axis]) {
      return refuse(OpKind::DynamicUpdateSlice, operands,
                    fmt::format("an update of {} elements along axis {}, which has length {} and {} start",
                                update.shape[axis], axis, whole.shape[axis], moves ? "a" : "no"),
                    "give an update that is as long as a, or less along axes that have a start");
    }
  }
  return TypeResult::of(whole);
}

// In place, which is the rule, what is not updated is neither read nor written.
OpCost DynamicUpdateSlice::cost(OperandTypes operands, OperandTypes) const {
  OpCost cost;
  cost.bytes = static_cast<double>(2 * operands[1].bytes() + operands[2].bytes());
  return cost;
}

SplitRule DynamicUpdateSlice::split(OperandTypes operands, OperandTypes results) const {
  return boxSplit(operands, results, axes).with({{0, 1}});
}

} // namespace dfc::ops
