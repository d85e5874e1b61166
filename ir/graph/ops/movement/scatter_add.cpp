// scatterAdd: the result is linear in both: `a` gets the gradient as it is, an update that of the slice which
// it was added to, and an update whose index is out of range, which was added nowhere, gets zeros.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/index_rules.h"

#include <fmt/format.h>

namespace dfc::ops {
namespace {

// Whether each index names a place, as a condition that broadcasts to updates of this shape.
Tensor inRange(Tensor indices, int64_t length, const Shape& updates, size_t axis) {
  const auto limit = static_cast<double>(length);
  const Tensor wide = indices.type().element == ElementType::I64 ? indices : cast(indices, ElementType::I64);
  const Tensor known = compare(wide, -limit, Direction::Ge) & compare(wide, limit, Direction::Lt);
  Dims dims(indices.shape().dims().begin(), indices.shape().dims().end());
  dims.append(updates.rank() - axis - indices.shape().rank(), 1);
  return dims.size() == indices.shape().rank() ? known : reshape(known, dims);
}

} // namespace

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
  if (updates.shape.dims() != llvm::ArrayRef<int64_t>(wanted)) {
    return refuse(OpKind::ScatterAdd, operands,
                  Shape::valid(wanted) ? fmt::format("the updates are {}, not {}", toString(updates.shape),
                                                     toString(Shape(wanted)))
                                       : "no tensor may have the shape of the updates",
                  "give the updates the shape of gather(a, indices) along the same axis");
  }
  return TypeResult::of(whole);
}

// An addition for each update.
OpCost ScatterAdd::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops = static_cast<double>(operands[2].shape.elements());
  return cost;
}

void ScatterAdd::gradient(GradientRule& rule) const {
  rule.independentOf(1);
  rule.give(0, rule.cotangent());
  if (rule.wanted(2)) {
    const Shape &whole = rule.operand(0).shape(), &updates = rule.operand(2).shape();
    const size_t along = *normalAxis(axis, whole.rank());
    const Tensor taken = dfc::gather(rule.cotangent(), rule.operand(1), axis);
    rule.give(2, select(inRange(rule.operand(1), whole[along], updates, along), taken, 0));
  }
}

} // namespace dfc::ops
