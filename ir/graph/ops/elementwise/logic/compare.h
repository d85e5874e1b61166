// compare(a, b, direction=lt): bool, elementwise with broadcasting (StableHLO compare). A comparison with NaN
// is false, except `ne`, which is true.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Compare : OpDefaults {
  using Direction = dfc::Direction;
  static constexpr std::array<std::string_view, 6> directionNames = {"eq", "ne", "lt", "le", "gt", "ge"};
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{2, 2};
  static constexpr bool exact = true;
  Direction direction = Direction::Eq;
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results);
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
