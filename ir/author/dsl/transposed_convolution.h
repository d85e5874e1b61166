// Transposed convolutions, as the gradient of a convolution by its operand: what `convTranspose2d` and ONNX's
// ConvTranspose are made of.
#pragma once

#include "ir/author/dsl.h"

namespace dfc::dsl {

/// An axis of a transposed convolution: the gradient of a convolution with this padding gives `length`
/// elements, zeros after them continue it.
struct TransposedAxis {
  int64_t length = 0, low = 0, high = 0, after = 0;
};

/// `full`: the elements that the windows reach and `extra` zeros behind them. `wanted`: how many are asked
/// for; below 0: as many as the padding leaves. `lower`: an odd one that is taken off is at the begin.
TransposedAxis transposedAxis(int64_t full, int64_t extra, int64_t wanted, bool lower, int64_t low,
                              int64_t high);

/// A transposed convolution over two or three axes: its attributes, and what becomes of each axis.
struct TransposedWindows {
  Dims strides, dilations;
  std::vector<TransposedAxis> axes;
  int64_t groups = 1;
  Precision precision = Precision::Unstated;
};

/// Over the last two axes of `t`. a: [N, C, H, W], filter: [C, M / groups, KH, KW].
Tensor transposed2d(Tensor a, Tensor filter, const TransposedWindows& t);

} // namespace dfc::dsl
