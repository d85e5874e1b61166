// The two 16-bit floats as storage: conversions to and from f32, rounding to nearest even, NaN kept NaN.
#pragma once

#include "ir/base/visibility.h"

#include <cstdint>

namespace DFC_PUBLIC dfc {

/// IEEE 754 binary16.
struct Half {
  uint16_t bits = 0; ///< as stored
  Half() = default;
  explicit Half(float value);      ///< rounded to nearest even
  explicit operator float() const; ///< exact
};

/// bfloat16: the upper half of an f32.
struct BFloat16 {
  uint16_t bits = 0; ///< as stored
  BFloat16() = default;
  explicit BFloat16(float value);  ///< rounded to nearest even
  explicit operator float() const; ///< exact
};

} // namespace dfc
