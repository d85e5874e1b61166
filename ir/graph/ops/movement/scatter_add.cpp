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

} // namespace dfc::ops
