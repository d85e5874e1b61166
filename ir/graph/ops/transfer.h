// transfer(value): the same value on another device. Made by the compiler only; device and route are facts of
// the PlacedGraph.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Transfer : OpDefaults {
  static constexpr OpClass opClass = OpClass::Transfer;
  static constexpr Arity arity{1, 1};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const {
    return elementwiseSplit(operands, results).with({{0}});
  }
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
