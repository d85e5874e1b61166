#include "ir/graph/ops/movement/pad.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::ops {
namespace {

// low + length + (length - 1) * interior + high, or -1 when that is too large for any shape.
int64_t paddedLength(int64_t length, int64_t low, int64_t high, int64_t interior) {
  int64_t gaps = 0, total = 0;
  const bool overflow = __builtin_mul_overflow(std::max<int64_t>(length - 1, 0), interior, &gaps) ||
                        __builtin_add_overflow(length, gaps, &total) ||
                        __builtin_add_overflow(total, low, &total) ||
                        __builtin_add_overflow(total, high, &total);
  return overflow ? -1 : total;
}

bool anyNegative(llvm::ArrayRef<int64_t> dims) {
  return std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; });
}

} // namespace

TypeResult Pad::types(OperandTypes operands) const {
  const TensorType& operand = operands.front();
  const size_t rank = operand.shape.rank();
  if (low.size() != rank || high.size() != rank || (!interior.empty() && interior.size() != rank)) {
    return refuse(OpKind::Pad, operands,
                  fmt::format("{} low, {} high and {} interior for {} axes", low.size(), high.size(),
                              interior.size(), rank),
                  "give one low and one high for each axis, and as many interior or none");
  }
  if (anyNegative(low) || anyNegative(high) || anyNegative(interior)) {
    return refuse(OpKind::Pad, operands, "negative padding", "use slice to take elements away");
  }
  if (!canHold(operand.element, value)) {
    return refuse(OpKind::Pad, operands, fmt::format("{} cannot hold {}", name(operand.element), value),
                  "pad with a value of the element type");
  }
  Dims dims;
  for (size_t axis = 0; axis < rank; ++axis) {
    dims.push_back(
        paddedLength(operand.shape[axis], low[axis], high[axis], interior.empty() ? 0 : interior[axis]));
  }
  return resultOf(OpKind::Pad, operands, operand.element, dims);
}

OpCost Pad::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 0);
}

SplitRule Pad::split(OperandTypes operands, OperandTypes results) const {
  SplitRule rule = sourceSplit(results[0]);
  for (SplitFactor& factor : rule.factors) {
    const size_t axis = factor.results[0].axis;
    factor.operands.push_back({SplitAxis::Form::Backward, axis, operands[0].shape[axis],
                               interior.empty() ? 1 : interior[axis] + 1, 1, -low[axis]});
  }
  if (value == 0) {
    rule.linearIn = {{0}};
  }
  return rule;
}

void Pad::restrictTo(const SplitPart& part) {
  const SplitAxis& at = part.factor.operands[0];
  const SplitRange elements = at.elements(part.range);
  const int64_t first = elements.begin * at.stride - at.low - part.range.begin;
  const bool none = elements.size() == 0;
  low[at.axis] = none ? 0 : first;
  high[at.axis] = part.range.size() - (none ? 0 : first + (elements.size() - 1) * at.stride + 1);
}

} // namespace dfc::ops
