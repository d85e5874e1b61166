#include "ir/graph/ops/movement/transpose.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace dfc::ops {
namespace {

bool isPermutation(llvm::ArrayRef<int64_t> axes, size_t rank) {
  Dims sorted(axes.begin(), axes.end());
  std::sort(sorted.begin(), sorted.end());
  Dims all(rank);
  std::iota(all.begin(), all.end(), int64_t(0));
  return sorted == all;
}

} // namespace

TypeResult Transpose::types(OperandTypes operands) const {
  const Shape& shape = operands.front().shape;
  Dims dims(shape.dims().rbegin(), shape.dims().rend());
  if (!permutation.empty()) {
    if (!isPermutation(permutation, shape.rank())) {
      return refuse(OpKind::Transpose, operands,
                    fmt::format("[{}] is no permutation of its axes", fmt::join(permutation, ", ")),
                    fmt::format("name each axis from 0 to {} once", static_cast<int64_t>(shape.rank()) - 1));
    }
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      dims[axis] = shape[static_cast<size_t>(permutation[axis])];
    }
  }
  return TypeResult::of({operands.front().element, Shape(dims)});
}

OpCost Transpose::cost(OperandTypes, OperandTypes results) const { return movementCost(results); }

SplitRule Transpose::split(OperandTypes operands, OperandTypes results) const {
  const size_t rank = operands[0].shape.rank();
  SplitRule rule;
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t from = permutation.empty() ? rank - 1 - axis : static_cast<size_t>(permutation[axis]);
    SplitFactor factor(SplitKind::Free, results[0].shape[axis], 1, 1);
    factor.operands[0] = alongAxis(operands[0], from);
    factor.results[0] = alongAxis(results[0], axis);
    rule.add(std::move(factor));
  }
  return std::move(rule).with({{0}});
}

} // namespace dfc::ops
