// scatterAdd(a, indices, updates, axis=0): a, with every slice of `updates` added to the slice along `axis`
// that its index names; updates have the shape of gather(a, indices, axis). Repeated indices add up in the
// order of the updates, always, so that the bits never change; an index below 0 counts from the end, one out
// of range adds nothing. Floats add in f64 and round once; integers wrap. Element type: a number. The adjoint
// of gather (JAX .at[].add, ONNX ScatterND with add). start and whole: as in gather; updates of other parts'
// slices add nothing.
#pragma once

#include "ir/graph/op_parts.h"
#include "ir/graph/rules/place_in_whole.h"

namespace dfc::ops {

struct ScatterAdd : OpDefaults {
  static constexpr OpClass opClass = OpClass::Movement;
  static constexpr Arity arity{3, 3};
  int64_t axis = 0;
  AxisPart part;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    part.fields(visitor);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  void restrictTo(const SplitPart& given);
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
