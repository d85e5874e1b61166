// tile: an element gets the sum of the gradients of its copies. The result is seen with an axis of its own
// for the copies of each tiled axis; as a tensor has at most eight, three tiled axes are summed at a time.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::ops {
namespace {

constexpr size_t axesAtOnce = 3; // each takes two, and one is for what stands before them

// The sum over the copies along axes [first, end), of which at most `axesAtOnce` are tiled. `after`: elements
// of the axes behind them, which are summed already.
Tensor summedCopies(Tensor tensor, const Shape& part, llvm::ArrayRef<int64_t> repeats, size_t first,
                    size_t end) {
  Dims dims(1, 1), copies;
  for (size_t axis = 0; axis < part.rank(); ++axis) {
    if (axis >= first && axis < end && repeats[axis] != 1) {
      copies.push_back(static_cast<int64_t>(dims.size()));
      dims.append({repeats[axis], part[axis]});
    } else {
      dims.back() *= part[axis] * (axis < first ? repeats[axis] : 1);
    }
  }
  return reduceSum(reshape(tensor, dims), copies);
}

} // namespace

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

void Tile::gradient(GradientRule& rule) const {
  const Shape& part = rule.operand(0).shape();
  Tensor sum = rule.cotangent();
  size_t end = repeats.size();
  while (end > 0) {
    size_t first = end, tiled = 0;
    while (first > 0 && tiled < axesAtOnce) {
      tiled += repeats[--first] != 1 ? 1 : 0;
    }
    if (tiled > 0) {
      sum = summedCopies(sum, part, repeats, first, end);
    }
    end = first;
  }
  const Dims dims(part.dims().begin(), part.dims().end());
  rule.give(0, sum.valid() && sum.shape() == part ? sum : reshape(sum, dims));
}

} // namespace dfc::ops
