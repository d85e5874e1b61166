// The 16-bit floats against their definition: a conversion gives the nearest of all values of the type, the
// even one of two that are equally near.
#include "ir/base/half.h"
#include "tests/support/catch.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

using namespace dfc;

namespace {

template <class Small>
Small fromBits(uint32_t bits) {
  Small value;
  value.bits = static_cast<uint16_t>(bits);
  return value;
}

template <class Small>
void checkEveryValueSurvives() {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto wide = static_cast<float>(fromBits<Small>(bits));
    const Small back(wide);
    if (std::isnan(wide)) {
      REQUIRE(std::isnan(static_cast<float>(back)));
    } else {
      REQUIRE(back.bits == bits);
    }
  }
}

// For positive finite bit patterns the values ascend with the bits, so neighbours are bits + 1 and bits - 1.
// The largest finite one (`top`) rounds up to infinity from half a step above it.
template <class Small>
void checkNearest(float value, uint32_t top) {
  const Small rounded(value);
  const auto exact = static_cast<double>(std::fabs(value));
  const uint32_t bits = rounded.bits & 0x7fffU;
  REQUIRE(((rounded.bits & 0x8000U) != 0) == std::signbit(value));
  const auto at = [&](uint32_t pattern) {
    if (pattern <= top) {
      return static_cast<double>(static_cast<float>(fromBits<Small>(pattern)));
    }
    const double last = static_cast<float>(fromBits<Small>(top));
    return last + (last - static_cast<float>(fromBits<Small>(top - 1))); // where the next value would be
  };
  const double error = std::fabs(exact - at(bits));
  if (bits <= top) {
    const double above = std::fabs(exact - at(bits + 1));
    REQUIRE((error < above || (error == above && bits % 2 == 0)));
  }
  if (bits > 0) {
    const double below = std::fabs(exact - at(bits - 1));
    const bool beyond = bits > top && exact >= at(bits);
    REQUIRE((beyond || error < below || (error == below && bits % 2 == 0)));
  }
}

template <class Small>
void checkRandomFloats(uint32_t top) {
  std::mt19937 random(5);
  for (int i = 0; i < 300000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(value)) {
      checkNearest<Small>(value, top);
    }
  }
}

// The floats halfway between two neighbours, where rounding to even decides, and those beside them.
template <class Small>
void checkTies(uint32_t top) {
  for (uint32_t bits = 0; bits < top; ++bits) {
    const auto low = static_cast<float>(fromBits<Small>(bits)),
               high = static_cast<float>(fromBits<Small>(bits + 1));
    const float middle = low + (high - low) / 2;
    for (const float value : {middle, std::nextafter(middle, high), std::nextafter(middle, low), -middle}) {
      checkNearest<Small>(value, top);
    }
  }
}

} // namespace

TEST_CASE("half: every value survives the way to f32 and back") {
  checkEveryValueSurvives<Half>();
  checkEveryValueSurvives<BFloat16>();
}

TEST_CASE("half: rounds to the nearest, ties to even") {
  checkRandomFloats<Half>(0x7bff);
  checkRandomFloats<BFloat16>(0x7f7f);
  checkTies<Half>(0x7bff);
  checkTies<BFloat16>(0x7f7e);
}

TEST_CASE("half: particular values") {
  CHECK(Half(1.0F).bits == 0x3c00);
  CHECK(Half(-2.0F).bits == 0xc000);
  CHECK(Half(65504.0F).bits == 0x7bff);
  CHECK(Half(65519.99F).bits == 0x7bff);
  CHECK(Half(65520.0F).bits == 0x7c00);
  CHECK(Half(0x1p-24F).bits == 1);
  CHECK(Half(0x1p-25F).bits == 0); // halfway to the smallest: to even
  CHECK(Half(-0.0F).bits == 0x8000);
  CHECK(BFloat16(1.0F).bits == 0x3f80);
  CHECK(BFloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(BFloat16(std::numeric_limits<float>::infinity()).bits == 0x7f80);
  CHECK(std::isnan(
      static_cast<float>(BFloat16(std::bit_cast<float>(0x7f800001U))))); // payload in the low half only
}
