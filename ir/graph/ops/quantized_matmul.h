// quantizedMatmul(a, weights, scales, bits=8): a times the transpose of a matrix of small integers,
// [..., m, k] x [n, k] -> [..., m, n], dequantised as they are multiplied: element q stands for
// (q - zero) * scale, where zero = 2^(bits - 1), as in Q4_0 of ggml. `weights`: u8 [n, k * bits / 8],
// row-major; at 4 bits a byte has two elements, the first in its low half. `scales`: [n, g] of a's element
// type, a float, where g divides k: one for each run of k / g elements of a row; g = 1 is one for each row
// (output channel).
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
