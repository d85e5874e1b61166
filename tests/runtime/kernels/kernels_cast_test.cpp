// Casts between all types, and the 16-bit conversions against ir/base/half.h.
#include "runtime/cpu/kernels/tiles/tile_functions.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace dfc::testing {
namespace {

Literal castTo(ElementType to, const Literal& from) {
  ops::Cast op;
  op.to = to;
  return runKernel(op, {from});
}

double limited(double value, double low, double high) {
  return std::isnan(value) ? 0 : std::trunc(std::min(std::max(value, low), high));
}

// What `cast` of a value gives; the largest i64 is 2^63 when it is seen as a double.
double castOracle(ElementType to, double value) {
  switch (to) {
  case ElementType::Bool: return value != 0 ? 1 : 0;
  case ElementType::U8: return limited(value, 0, 255);
  case ElementType::I32: return limited(value, -2147483648.0, 2147483647.0);
  case ElementType::I64: return limited(value, -0x1p63, 0x1p63);
  default: return value;
  }
}

} // namespace

TEST_CASE("floats cast to every type: truncated, saturated, NaN to 0") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {0,   -0.0, 0.5,   -0.5,  1,    -1,   1.99,  -1.99,        255.5, 256,
                                      300, -300, 32768, 65504, 1e-7, 1e10, -1e10, std::nan(""), 127,   2.5};
  const auto count = static_cast<int64_t>(values.size());
  for (const ElementType from : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    const Literal literal = literalOf(from, {count}, values);
    for (const ElementType to : allElementTypes) {
      INFO(name(from) << " to " << name(to));
      checkElements(
          castTo(to, literal), [&](int64_t i) { return castOracle(to, literal.at(i)); }, 0.5);
    }
  }
  const Literal ends = literalOf(ElementType::F64, {4}, {inf, -inf, 0x1p63, -0x1p63});
  const auto most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::lowest();
  const std::vector<int64_t> expected = {most, least, most, least};
  CHECK(castTo(ElementType::I64, ends) == Literal(Shape{4}, std::span<const int64_t>(expected)));
  CHECK(castTo(ElementType::I32, ends).at(0) == 2147483647);
  CHECK(castTo(ElementType::U8, ends).at(1) == 0);
}

TEST_CASE("integers cast to narrower integers by their low bits, to floats by rounding once") {
  const std::vector<int64_t> values = {0, 1, -1, 255, 256, -129, 4294967297, (int64_t(1) << 53) + 1};
  const Literal literal(Shape{8}, std::span<const int64_t>(values));
  const Literal bytes = castTo(ElementType::U8, literal), words = castTo(ElementType::I32, literal);
  const Literal floats = castTo(ElementType::F32, literal), truths = castTo(ElementType::Bool, literal);
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t value = values[static_cast<size_t>(i)];
    CHECK(bytes.at(i) == static_cast<uint8_t>(value));
    CHECK(words.at(i) == static_cast<int32_t>(value));
    CHECK(floats.at(i) == static_cast<float>(value));
    CHECK(truths.at(i) == (value != 0));
  }
}

TEST_CASE("every f16 and bf16 widens to the f32 that ir/base/half.h gives") {
  std::vector<uint16_t> bits(65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    bits[i] = static_cast<uint16_t>(i);
  }
  for (const ElementType type : {ElementType::F16, ElementType::BF16}) {
    std::vector<float> wide(65536);
    std::vector<uint16_t> back(65536);
    const void* inputs[1] = {bits.data()};
    widenTile(type)(inputs, wide.data(), wide.size());
    inputs[0] = wide.data();
    narrowTile(type)(inputs, back.data(), back.size());
    bool same = true;
    for (uint32_t i = 0; i < 65536; ++i) {
      Half half;
      BFloat16 brain;
      half.bits = brain.bits = bits[i];
      const float expected = type == ElementType::F16 ? static_cast<float>(half) : static_cast<float>(brain);
      same = same && std::bit_cast<uint32_t>(wide[i]) == std::bit_cast<uint32_t>(expected);
      same = same && (back[i] == bits[i] || std::isnan(expected));
    }
    CHECK(same);
  }
}

TEST_CASE("f32 narrows to f16 and bf16 with the bits that ir/base/half.h gives") {
  std::mt19937 generator(41);
  std::vector<float> values;
  for (int i = 0; i < 200000; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(generator())));
  }
  for (uint32_t i = 0; i < 65536; ++i) { // around every f16: itself, halfway to the next, and a little beside
    Half half;
    half.bits = static_cast<uint16_t>(i);
    const uint32_t wide = std::bit_cast<uint32_t>(static_cast<float>(half));
    for (const uint32_t step : {0U, 0x1000U, 0xfffU, 0x1001U}) {
      values.push_back(std::bit_cast<float>(wide + step));
    }
  }
  for (int exponent = -27; exponent <= -13; ++exponent) { // the subnormals of f16 and what rounds to them
    for (const float factor : {1.0F, 1.5F, 1.25F, 1.0000001F, 1.9999999F}) {
      values.push_back(std::ldexp(factor, exponent));
    }
  }
  std::vector<uint16_t> halves(values.size()), brains(values.size());
  const void* inputs[1] = {values.data()};
  narrowTile(ElementType::F16)(inputs, halves.data(), values.size());
  narrowTile(ElementType::BF16)(inputs, brains.data(), values.size());
  size_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    wrong += halves[i] != Half(values[i]).bits || brains[i] != BFloat16(values[i]).bits ? 1 : 0;
  }
  CHECK(wrong == 0);
}

} // namespace dfc::testing
