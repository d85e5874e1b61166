// oneHot(indices, depth, axis=-1, to=f32): 1 where the new axis's index is the one named, 0 elsewhere;
// indices i32 or i64, below 0 counted from the end; one out of range gives zeros only. The new axis stands at
// `axis` of the result (ONNX OneHot). start and whole: as in gather, the new axis being classes start, … of
// whole.
#pragma once

#include "ir/graph/op_parts.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

struct OneHot : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{1, 1};
  static constexpr bool exact = true;
  int64_t depth = 0;
  int64_t axis = -1;
  ElementType to = ElementType::F32;
  AxisPart part;
  void fields(AttributeVisitor& visitor) {
    visitor.field("depth", depth, Presence::Required);
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("to", to, Presence::Optional);
    part.fields(visitor);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& given);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
