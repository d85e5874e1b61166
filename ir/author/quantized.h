// Quantised weights: matrices of 8-bit or 4-bit integers with a scale for each row or for each run of a row
// (`quantizedMatmul`).
#pragma once

#include "ir/author/builder.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

namespace DFC_PUBLIC dfc {

/// How a matrix is quantised.
struct Quantization {
  int64_t bits = 8;  ///< 8 or 4
  int64_t group = 0; ///< elements of a row that share a scale; 0: all of them, a scale for each row
};

/// A matrix [n, k] as operands of `quantizedMatmul`.
struct QuantizedMatrix {
  Literal weights; ///< u8 [n, k * bits / 8]
  Literal scales;  ///< [n, k / group], of the matrix's element type
};

/// The nearest integers, symmetric about zero: a run's scale is its largest magnitude over 2^(bits - 1) - 1
/// (as Q8_0 of ggml). A run with an infinity or a NaN has that as its scale, and a run of zeros 0. Errors: a
/// literal that is no matrix of floats, another number of bits, a group that does not divide k or is odd
/// where `bits` is 4.
Result<QuantizedMatrix> quantize(const Literal& matrix, const Quantization& how = {});

/// The matrix [n, k] that `weights` and `scales` hold, of the scales' element type.
Tensor dequantized(Operand weights, Operand scales, int64_t bits = 8);

} // namespace dfc
