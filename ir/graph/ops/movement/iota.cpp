// iota: there is nothing that a gradient could go to.
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc::ops {

TypeResult Iota::types(OperandTypes operands) const {
  const auto rank = static_cast<int64_t>(type.shape.rank());
  if (type.element == ElementType::Bool) {
    return refuse(OpKind::Iota, operands, "iota gives numbers, not bool",
                  "make an integer iota, and compare it");
  }
  if (rank == 0) {
    return refuse(OpKind::Iota, operands, "a scalar has no axes", "give a type of one axis or more");
  }
  if (!normalAxis(axis, type.shape.rank())) {
    return refuse(OpKind::Iota, operands, fmt::format("there is no axis {} in {}", axis, toString(type)),
                  fmt::format("give an axis from {} to {}", -rank, rank - 1));
  }
  constexpr int64_t most = int64_t{1} << 60; // so that no index of a part overflows
  if (start < -most || start > most) {
    return refuse(OpKind::Iota, operands, fmt::format("the first number is {}", start),
                  fmt::format("give a start from {} to {}", -most, most));
  }
  return TypeResult::of(type);
}

OpCost Iota::cost(OperandTypes operands, OperandTypes results) const {
  return streamingCost(operands, results, 1);
}

SplitRule Iota::split(OperandTypes, OperandTypes results) const { return sourceSplit(results[0]); }

void Iota::restrictTo(const SplitPart& part) {
  if (part.factor.results[0].axis == *normalAxis(axis, type.shape.rank())) {
    start += part.range.begin;
  }
  type = part.resultType(0);
}

} // namespace dfc::ops
