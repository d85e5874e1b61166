// matmul(a, b): the product of the last two axes, after an optional transpose of each, batched over the axes
// before them (which broadcast): [..., m, k] x [..., k, n] -> [..., m, n]. Rank >= 2, same element type (ONNX
// MatMul, with the transposes of ONNX Gemm). f16 and bf16 accumulate in f32.
//
// precision: how products of f32 operands are taken. ieee: as f32. tf32: a backend may round the operands to
// tf32 (10 bits behind the point, the range of f32) and accumulates in f32; one without such units, like the
// cpu's, computes as for ieee. bf16 and f16: compiling casts the operands to that type and the result back.
// Unstated, it is what the plan is compiled with (CompileOptions::precision), and ieee without that. Other
// element types have one precision and ignore it.
#pragma once

#include "ir/graph/op_options.h"
#include "ir/graph/op_parts.h"

namespace dfc::ops {

using dfc::Precision;

struct Matmul : OpDefaults {
  static constexpr OpClass opClass = OpClass::Contraction;
  static constexpr Arity arity{2, 2};
  bool transposeA = false;
  bool transposeB = false;
  Precision precision = Precision::Unstated;
  void fields(AttributeVisitor& visitor);

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
