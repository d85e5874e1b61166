#include "ir/graph/ops/reduction/top_k.h"
#include "ir/graph/rules/axis_view.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <bit>

namespace dfc::ops {

TypeResult TopK::types(OperandTypes operands) const {
  if (TypeResult elements = checkElements(OpKind::TopK, operands, Domain::Number); !elements.ok()) {
    return elements;
  }
  if (TypeResult known = checkAxis(OpKind::TopK, operands, axis); !known.ok()) {
    return known;
  }
  const TensorType& whole = operands.front();
  const size_t along = *normalAxis(axis, whole.shape.rank());
  if (k < 0 || k > whole.shape[along]) {
    return refuse(OpKind::TopK, operands,
                  fmt::format("k is {}, and axis {} has length {}", k, along, whole.shape[along]),
                  "0 <= k <= length");
  }
  Dims dims(whole.shape.dims().begin(), whole.shape.dims().end());
  dims[along] = k;
  TypeResult results;
  results.types = {{whole.element, Shape(dims)}, {ElementType::I64, Shape(dims)}};
  return results;
}

// A comparison for each element, and for each of those that a heap of k would sift.
OpCost TopK::cost(OperandTypes operands, OperandTypes results) const {
  OpCost cost = streamingCost(operands, results, 0);
  cost.flops =
      static_cast<double>(operands.front().shape.elements()) * (1 + std::bit_width(static_cast<uint64_t>(k)));
  return cost;
}

// Not along the axis: the best of all parts' results would have to be chosen again.
SplitRule TopK::split(OperandTypes operands, OperandTypes results) const {
  return otherAxesSplit(operands, results, axis);
}

} // namespace dfc::ops
