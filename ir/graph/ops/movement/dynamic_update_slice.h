// dynamicUpdateSlice(a, update, starts, axes=[…]): a, with `update` in the place of as many of its elements,
// from starts[i] on along axes[i]. update: a's element type and dimensions, but along the axes that have
// starts at most these. starts: i32 or i64, a vector of one number for each axis, or a scalar for one axis.
// Axes left out are all, in order. A start is clamped to [0, dimension - size of the update], so that the
// update lies inside (StableHLO dynamic_update_slice). In the storage of a, which it may overwrite, it writes
// the update alone.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct DynamicUpdateSlice : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{3, 3};
  static constexpr bool exact = true;
  Dims axes;
  void fields(AttributeVisitor& visitor) { visitor.field("axes", axes, Presence::Optional); }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
