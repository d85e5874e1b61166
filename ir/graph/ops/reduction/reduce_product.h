// reduceProduct(a, axes=[…], keepDims=false): the product over `axes` (none named: all); of no elements 1.
// Floats multiply in f64 and round once, integers wrap. Element type: a number (ONNX ReduceProd).
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct ReduceProduct : OpDefaults {
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
