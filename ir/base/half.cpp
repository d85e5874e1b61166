#include "ir/base/half.h"

#include <bit>
#include <cmath>

namespace dfc {

Half::Half(float value) {
  const uint32_t in = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (in >> 16) & 0x8000U;
  const uint32_t magnitude = in & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    bits = static_cast<uint16_t>(sign | 0x7e00U);
  } else if (magnitude >= 0x477ff000U) { // 65520 and above round to infinity
    bits = static_cast<uint16_t>(sign | 0x7c00U);
  } else if (magnitude >= 0x38800000U) { // normal: rebias the exponent, round the 13 bits that go
    const uint32_t odd = (magnitude >> 13) & 1U;
    bits = static_cast<uint16_t>(sign | ((magnitude - 0x38000000U + 0xfffU + odd) >> 13));
  } else { // subnormal: count of 2^-24, rounded to nearest even by the default rounding mode
    const float scaled = std::bit_cast<float>(magnitude) * 16777216.0F;
    bits = static_cast<uint16_t>(sign | static_cast<uint32_t>(std::nearbyintf(scaled)));
  }
}

Half::operator float() const {
  const uint32_t sign = (bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fU;
  const uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide = exponent == 31 ? 0xffU : exponent + 112U;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

BFloat16::BFloat16(float value) {
  const uint32_t in = std::bit_cast<uint32_t>(value);
  const bool nan = (in & 0x7fffffffU) > 0x7f800000U;
  bits = static_cast<uint16_t>(nan ? ((in >> 16) | 0x40U) : (in + 0x7fffU + ((in >> 16) & 1U)) >> 16);
}

BFloat16::operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

} // namespace dfc
