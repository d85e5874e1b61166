#include "ir/graph/ops/movement/dynamic_slice.h"
#include "ir/graph/rules/dynamic_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult DynamicSlice::types(OperandTypes operands) const {
  if (TypeResult starts = checkStarts(OpKind::DynamicSlice, operands, 1, axes); !starts.ok()) {
    return starts;
  }
  const Shape& whole = operands[0].shape;
  const Dims started = *startedAxes(axes, whole.rank());
  if (sizes.size() != started.size()) {
    return refuse(OpKind::DynamicSlice, operands,
                  fmt::format("{} sizes for {} axes", sizes.size(), started.size()),
                  "give one size for each axis that has a start");
  }
  Dims dims(whole.dims().begin(), whole.dims().end());
  for (size_t i = 0; i < started.size(); ++i) {
    int64_t& dim = dims[static_cast<size_t>(started[i])];
    if (sizes[i] < 0 || sizes[i] > dim) {
      return refuse(OpKind::DynamicSlice, operands,
                    fmt::format("{} elements along axis {}, which has length {}", sizes[i], started[i], dim),
                    "0 <= size <= length");
    }
    dim = sizes[i];
  }
  return TypeResult::of({operands[0].element, Shape(dims)});
}

OpCost DynamicSlice::cost(OperandTypes, OperandTypes results) const { return movementCost(results); }

SplitRule DynamicSlice::split(OperandTypes operands, OperandTypes results) const {
  return boxSplit(operands, results, axes).with({{0}});
}

} // namespace dfc::ops
