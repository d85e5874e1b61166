// fusedMatmul(a, b, x0, x1, …): a matrix product and the elementwise ops that follow it, so that the product
// itself need not reach memory. Made by the pass fuse_matmul. Register 0 of the body is the product of a and
// b, rounded to its element type as matmul rounds it; registers 1, 2, … are x0, x1, …, broadcast to the
// product's shape; then come the instructions as in `fused`. The last one is the result, in the product's
// shape.
#pragma once

#include "ir/graph/ops/fused.h"
#include "ir/graph/ops/matmul.h"

namespace dfc::ops {

struct FusedMatmul : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{2, anyNumber};
  bool transposeA = false;
  bool transposeB = false;
  Precision precision = Precision::Unstated;
  FusedBody body;
  void fields(AttributeVisitor& visitor);

  /// The two halves: what is done with the first two operands, and then with the product and the others.
  Matmul product() const;
  Fused epilogue() const;
  /// Type of the product. The operands are those of the whole, and its rule accepts them.
  TensorType productType(OperandTypes operands) const;
  /// Operand types of the epilogue, likewise.
  llvm::SmallVector<TensorType, 4> epilogueOperands(OperandTypes operands) const;

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
