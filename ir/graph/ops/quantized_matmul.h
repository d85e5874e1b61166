// quantizedMatmul(a, weights, scales, bits=8): a times the transpose of a matrix of small integers,
// [..., m, k] x [n, k] -> [..., m, n], whose elements are dequantised as they are multiplied: (q - 2^(bits -
// 1))
// * scale. `weights`: u8 [n, k * bits / 8], row by row: 8 bits hold one q, or, of 4 bits, two: the first of
// them in the low half (as Q4_0 of ggml counts from 8). `scales`: [n, g] of a's element type, a float, where
// g divides k: one for each run of k / g elements of a row; g = 1 is a scale for each row, the output
// channel.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct QuantizedMatmul : OpDefaults {
  static constexpr OpClass opClass = OpClass::Structured;
  static constexpr Arity arity{3, 3};
  int64_t bits = 8; ///< 8 or 4
  void fields(AttributeVisitor& visitor);

  /// The q that stands for 0.
  int64_t zero() const { return int64_t{1} << (bits - 1); }
  /// Elements of a row of the matrix in a byte.
  int64_t perByte() const { return 8 / bits; }
  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
