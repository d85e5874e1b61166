// dynamicSlice(a, starts, sizes=[…], axes=[…]): along axes[i], sizes[i] elements of a from starts[i] on; all
// elements along the other axes. starts: i32 or i64, a vector of one number for each axis, or a scalar for
// one axis. Axes left out are all, in order. A start is clamped to [0, dimension - size], so that what is
// taken lies inside (StableHLO dynamic_slice). 0 <= sizes <= dimension.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct DynamicSlice : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{2, 2};
  static constexpr bool exact = true;
  Dims sizes;
  Dims axes;
  void fields(AttributeVisitor& visitor) {
    visitor.field("sizes", sizes, Presence::Required);
    visitor.field("axes", axes, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
