// matmul(a, b): the product of the last two axes, after an optional transpose of each, batched over the axes
// before them (which broadcast): [..., m, k] x [..., k, n] -> [..., m, n]. Rank >= 2, same element type (ONNX
// MatMul, with the transposes of ONNX Gemm). f16 and bf16 accumulate in f32.
#pragma once

#include "ir/op_parts.h"

namespace dfc::ops {

struct Matmul : OpDefaults {
  static constexpr OpClass opClass = OpClass::Contraction;
  static constexpr Arity arity{2, 2};
  bool transposeA = false;
  bool transposeB = false;
  void fields(AttributeVisitor& visitor) {
    visitor.field("transposeA", transposeA, Presence::Optional);
    visitor.field("transposeB", transposeB, Presence::Optional);
  }

  TypeResult types(OperandTypes operands) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
  void gradient(GradientRule& rule) const;
};

} // namespace dfc::ops
