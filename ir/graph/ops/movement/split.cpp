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

SplitRule Split::split(OperandTypes operands, OperandTypes results) const {
  const size_t rank = operands[0].shape.rank();
  SplitRule rule;
  for (size_t along = 0; along < rank; ++along) {
    SplitFactor factor(SplitKind::Free, operands[0].shape[along], 1, results.size());
    factor.operands[0] = alongAxis(operands[0], along);
    int64_t first = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      factor.results[i] = pieceOfAxis(results[i], along, first);
      first += along == *normalAxis(axis, rank) ? results[i].shape[along] : 0;
    }
    rule.add(std::move(factor));
  }
  return std::move(rule).with({{0}});
}

void Split::restrictTo(const SplitPart& part) {
  const size_t along = *normalAxis(axis, part.operands[0].shape.rank());
  for (size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = part.resultType(i).shape[along];
  }
}

} // namespace dfc::ops
