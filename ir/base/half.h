// The two 16-bit floats as storage: conversions to and from f32, rounding to nearest even, NaN kept NaN.
#pragma once

#include "ir/base/visibility.h"

#include <cstdint>

namespace DFC_PUBLIC dfc {

/// IEEE 754 binary16.
struct Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value);
  explicit operator float() const;
};

/// bfloat16: the upper half of an f32.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value);
  explicit operator float() const;
};

} // namespace dfc
