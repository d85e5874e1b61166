#include "ir/graph/ops/movement/slice.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfc::ops {

TypeResult Slice::types(OperandTypes operands) const {
  const Shape& shape = operands.front().shape;
  if (starts.size() != shape.rank() || ends.size() != shape.rank() ||
      (!strides.empty() && strides.size() != shape.rank())) {
    return refuse(OpKind::Slice, operands,
                  fmt::format("{} starts, {} ends and {} strides for {} axes", starts.size(), ends.size(),
                              strides.size(), shape.rank()),
                  "give one start and one end for each axis, and as many strides or none");
  }
  Dims dims;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const int64_t stride = strides.empty() ? 1 : strides[axis];
    if (starts[axis] < 0 || ends[axis] < starts[axis] || ends[axis] > shape[axis] || stride < 1) {
      return refuse(OpKind::Slice, operands,
                    fmt::format("from {} to {} in strides of {} on axis {}, which has length {}",
                                starts[axis], ends[axis], stride, axis, shape[axis]),
                    "0 <= start <= end <= length, and strides of 1 or more");
    }
    const int64_t span = ends[axis] - starts[axis];
    dims.push_back(span / stride + (span % stride != 0 ? 1 : 0));
  }
  return TypeResult::of({operands.front().element, Shape(dims)});
}

OpCost Slice::cost(OperandTypes, OperandTypes results) const { return movementCost(results); }

SplitRule Slice::split(OperandTypes operands, OperandTypes results) const {
  SplitRule rule = sourceSplit(results[0]).with({{0}});
  for (SplitFactor& factor : rule.factors) {
    const size_t axis = factor.results[0].axis;
    factor.operands.push_back({SplitAxis::Form::Forward, axis, operands[0].shape[axis],
                               strides.empty() ? 1 : strides[axis], 1, -starts[axis]});
  }
  return rule;
}

void Slice::restrictTo(const SplitPart& part) {
  const size_t axis = part.factor.operands[0].axis;
  starts[axis] = 0;
  ends[axis] = part.operandType(0).shape[axis];
}

} // namespace dfc::ops
