// reduceMin(a, axes=[…], keepDims=false): the smallest element over `axes` (none named: all). NaN if any is
// NaN; an axis of length 0 is refused. Element type: a number (ONNX ReduceMin).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct ReduceMin : OpDefaults {
  static constexpr OpClass opClass = OpClass::Reduction;
  static constexpr Arity arity{1, 1};
  Dims axes;
  bool keepDims = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axes", axes, Presence::Optional);
    visitor.field("keepDims", keepDims, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
