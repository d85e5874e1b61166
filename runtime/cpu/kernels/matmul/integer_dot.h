// Dot products of f32 with integers of 8 or 4 bits.
#pragma once

#include <cstdint>

namespace dfc {

/// A row of a quantised matrix: `bytes` bytes, in runs of `runBytes`, each with a scale.
struct IntegerRow {
  const uint8_t* weights;
  const float* scales;
  int64_t bytes, runBytes;
};

/// The sum of (q - 128) * scale * x over a row of 8-bit integers; `x` has an element a byte.
using IntegerDot = float (*)(const IntegerRow& row, const float* x);
IntegerDot dotOfBytes();
/// The same of 4-bit integers, (q - 8) * scale: `x` has the elements of the low halves, then those of the
/// high halves, `row.bytes` each.
IntegerDot dotOfHalves();

} // namespace dfc
