#include "ir/graph/ops/movement/split.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfc::ops {
namespace {

// The sum of the sizes; -1 when one is negative or the sum is too large for any dimension.
int64_t totalOf(llvm::ArrayRef<int64_t> sizes) {
  int64_t total = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_add_overflow(total, size, &total)) {
      return -1;
    }
  }
  return total;
}

} // namespace

TypeResult Split::types(OperandTypes operands) const {
  if (TypeResult known = checkAxis(OpKind::Split, operands, axis); !known.ok()) {
    return known;
  }
  const TensorType& whole = operands.front();
  const size_t along = *normalAxis(axis, whole.shape.rank());
  if (sizes.empty()) {
    return refuse(
        OpKind::Split, operands, "no sizes of parts",
        fmt::format("give sizes that add up to {}, the length of axis {}", whole.shape[along], along));
  }
  if (totalOf(sizes) != whole.shape[along]) {
    return refuse(OpKind::Split, operands,
                  fmt::format("parts of {} for axis {}, which has length {}", fmt::join(sizes, ", "), along,
                              whole.shape[along]),
                  "give sizes, none of them negative, that add up to the length");
  }
  TypeResult parts;
  for (const int64_t size : sizes) {
    Dims dims(whole.shape.dims().begin(), whole.shape.dims().end());
    dims[along] = size;
    parts.types.push_back({whole.element, Shape(dims)});
  }
  return parts;
}

OpCost Split::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 0);
}

} // namespace dfc::ops
