// fusedConv2d(a, filter, x0, x1, …): a convolution and the elementwise ops that follow it, so that its result
// need not reach memory. Made by the pass fuse_matmul. Register 0 of the body is the result of conv2d with
// the same attributes, rounded to its element type; registers 1, 2, … are x0, x1, …, broadcast to that
// result's shape; then come the instructions as in `fused`. The last one is the result, in that shape.
#pragma once

#include "ir/graph/ops/fused.h"
#include "ir/graph/ops/window/conv2d.h"

namespace dfc::ops {

struct FusedConv2d : Conv2d {
  static constexpr Arity arity{2, anyNumber};
  FusedBody body;
  void fields(AttributeVisitor& visitor);

  /// The two halves: what is done with the first two operands, and then with their result and the others.
  Conv2d convolution() const { return *this; }
  Fused epilogue() const;
  /// The convolution's result. The operands are those of the whole, and its rule accepts them.
  TensorType convolutionType(OperandTypes operands) const;
  /// Operand types of the epilogue, likewise.
  llvm::SmallVector<TensorType, 4> epilogueOperands(OperandTypes operands) const;

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
