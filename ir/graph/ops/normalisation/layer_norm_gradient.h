// layerNormGradient(a, scale, cotangent, axis=-1, epsilon=1e-5): three results: the gradients of layerNorm to
// a, scale and bias. Operands and attributes are layerNorm's; the cotangent has the type of a, or is
// f16 or bf16 beside an f32 a. toScale=false and toBias=false leave those results out. Computed in f32, f64
// for f64, and rounded once.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct LayerNormGradient : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{3, 3};
  int64_t axis = -1;
  double epsilon = 1e-5;
  bool toScale = true;
  bool toBias = true;
  void fields(AttributeVisitor& visitor) {
    visitor.field("axis", axis, Presence::Optional);
    visitor.field("epsilon", epsilon, Presence::Optional);
    visitor.field("toScale", toScale, Presence::Optional);
    visitor.field("toBias", toBias, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
