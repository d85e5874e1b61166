// rsqrt(a): 1 / sqrt(a), rounded as the two are (StableHLO rsqrt). Element type: a float.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Rsqrt : OpDefaults {
  static constexpr OpClass opClass = OpClass::Elementwise;
  static constexpr Arity arity{1, 1};

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
