// tile: an element gets the sum of the gradients of its copies. The result is seen with an axis of its own
// for the copies of each tiled axis; as a tensor has at most eight, three tiled axes are summed at a time.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <algorithm>
#include <fmt/format.h>

namespace dfc {
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
      dims.insert(dims.end(), {repeats[axis], part[axis]});
    } else {
      dims.back() *= part[axis] * (axis < first ? repeats[axis] : 1);
    }
  }
  return reduceSum(reshape(tensor, dims), copies);
}

} // namespace

void gradientRule(const ops::Tile& op, GradientRule& rule) {
  const Shape& part = rule.operand(0).shape();
  Tensor sum = rule.cotangent();
  size_t end = op.repeats.size();
  while (end > 0) {
    size_t first = end, tiled = 0;
    while (first > 0 && tiled < axesAtOnce) {
      tiled += op.repeats[--first] != 1 ? 1 : 0;
    }
    if (tiled > 0) {
      sum = summedCopies(sum, part, op.repeats, first, end);
    }
    end = first;
  }
  const Dims dims(part.dims().begin(), part.dims().end());
  rule.give(0, sum.valid() && sum.shape() == part ? sum : reshape(sum, dims));
}

} // namespace dfc
