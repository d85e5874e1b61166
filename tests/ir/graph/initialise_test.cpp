// Philox against the known answers of Random123, and the initialisers by their moments, ranges and exact
// bits.
#include "ir/base/philox.h"
#include "ir/graph/initialise.h"
#include "tests/support/catch.h"

#include <cmath>

namespace dfc {
namespace {

ops::Parameter parameter(const TensorType& type, ops::Parameter::Initialiser initialiser, double a = 0,
                         double b = 0, int64_t seed = 1) {
  ops::Parameter made;
  made.type = type;
  made.initialiser = initialiser;
  made.a = a;
  made.b = b;
  made.seed = seed;
  return made;
}

using Start = Initialiser::Kind;

struct Moments {
  double mean = 0, deviation = 0, low = INFINITY, high = -INFINITY;
};

Moments momentsOf(const Literal& literal) {
  Moments moments;
  const int64_t count = literal.type().shape.elements();
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = literal.at(i);
    moments.mean += value / double(count);
    squares += value * value / double(count);
    moments.low = std::min(moments.low, value);
    moments.high = std::max(moments.high, value);
  }
  moments.deviation = std::sqrt(squares - moments.mean * moments.mean);
  return moments;
}

} // namespace

// The philox4x32-10 lines of kat_vectors in the Random123 distribution.
TEST_CASE("philox gives the known answers of Random123") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("zeros and constants fill every type") {
  for (const ElementType type : allElementTypes) {
    CHECK(initialise(parameter({type, {2, 3}}, Start::Zeros)) == Literal(TensorType{type, {2, 3}}));
    CHECK(initialise(parameter({type, {5}}, Start::Constant, 1)) == filledLiteral({type, {5}}, 1));
  }
}

TEST_CASE("the normal quantile inverts the normal distribution function") {
  // 0.9999... as 1 - q loses digits, so the right tail is checked by symmetry.
  for (const double p : {1e-16, 1e-12, 1e-9, 1e-5, 0.001, 0.02425, 0.0749, 0.0751, 0.2, 0.4, 0.49999, 0.5}) {
    const double back = 0.5 * std::erfc(-normalQuantile(p) / std::sqrt(2.0));
    CHECK(std::fabs(back / p - 1) <
          2e-13); // the tail's density multiplies x's 1e-15 by at most x^2, about 70
  }
  CHECK(normalQuantile(0.5) == 0);
  CHECK(normalQuantile(0.75) == -normalQuantile(0.25));
  CHECK(normalQuantile(0.975) == Approx(1.959963984540054).epsilon(1e-15)); // any table's 1.96
}

TEST_CASE("uniform draws lie in their half-open range, evenly") {
  const int64_t count = 100000;
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    const Moments moments = momentsOf(initialise(parameter({type, {count}}, Start::Uniform, -1, 3)));
    CHECK(moments.low >= -1);
    CHECK(moments.high < 3);
    // Width 4: deviation 4 / sqrt(12) = 1.1547; the mean of n draws strays by 1.1547 / sqrt(n) = 0.0037.
    CHECK(std::fabs(moments.mean - 1) < 0.02);
    CHECK(std::fabs(moments.deviation - 4 / std::sqrt(12.0)) < 0.01);
  }
  // bf16 keeps 8 bits, so in [1, 1 + 2^-7) rounding up to the open end would be common: only 1 is left.
  const Literal narrow = initialise(parameter({ElementType::BF16, {1000}}, Start::Uniform, 1, 1.0078125));
  CHECK(momentsOf(narrow).high == 1);
  const double far = 1.7e308; // high - low would overflow
  const Moments wide = momentsOf(initialise(parameter(f64({1000}), Start::Uniform, -far, far)));
  CHECK(wide.low < -0.9 * far);
  CHECK(wide.high > 0.9 * far);
}

TEST_CASE("normal draws have their mean, deviation and tails") {
  const int64_t count = 100000;
  const Literal drawn = initialise(parameter(f32({count}), Start::Normal, 2, 3));
  const Moments moments = momentsOf(drawn);
  CHECK(std::fabs(moments.mean - 2) < 0.05); // 3 / sqrt(n) = 0.0095
  CHECK(std::fabs(moments.deviation - 3) < 0.04);
  int64_t within = 0;
  for (int64_t i = 0; i < count; ++i) {
    within += std::fabs(drawn.at(i) - 2) < 3 ? 1 : 0;
  }
  CHECK(std::fabs(double(within) / double(count) - 0.6827) < 0.006); // one deviation holds 68.27 %
  CHECK(initialise(parameter(f32({10}), Start::Normal, 2, 0)) == filledLiteral(f32({10}), 2));
}

TEST_CASE("fans of a matrix and of a filter") {
  const auto fans = [](const Shape& shape) {
    const Fans both = fansOf(shape);
    return std::pair(both.in, both.out);
  };
  CHECK(fans({784, 256}) == std::pair(784.0, 256.0));
  CHECK(fans({64, 32, 3, 5}) == std::pair(480.0, 960.0)); // 32 * 3 * 5 and 64 * 3 * 5
  CHECK(fans({8, 1, 3}) == std::pair(3.0, 24.0));         // a depthwise filter along one axis
  CHECK_THROWS_AS(fansOf({7}), InternalError);
}

TEST_CASE("glorot and He draw as widely as the fans say") {
  const auto drawnFrom = [](const Shape& shape, Start how, double limit) {
    const Moments moments = momentsOf(initialise(parameter(f32(shape), how)));
    CHECK(moments.low >= -limit);
    CHECK(moments.low < -0.99 * limit);
    CHECK(moments.high < limit);
    CHECK(moments.high > 0.99 * limit);
  };
  drawnFrom({100, 50}, Start::Glorot, 0.2);          // sqrt(6 / (100 + 50))
  drawnFrom({24, 96, 1, 5}, Start::Glorot, 0.1);     // sqrt(6 / (96 * 5 + 24 * 5))
  drawnFrom({150, 300}, Start::HeUniform, 0.2);      // sqrt(6 / 150)
  drawnFrom({100, 30, 4, 5}, Start::HeUniform, 0.1); // sqrt(6 / (30 * 4 * 5))
  // 60,000 normal draws stray by 0.1 / sqrt(60000) = 0.0004 in the mean, and less in the deviation.
  const Moments normal = momentsOf(initialise(parameter(f32({300, 8, 5, 5}), Start::HeNormal)));
  CHECK(std::fabs(normal.mean) < 0.002);
  CHECK(std::fabs(normal.deviation - 0.1) < 0.001); // sqrt(2 / (8 * 5 * 5))
}

TEST_CASE("glorot of a matrix has the bits of a uniform draw between its limits") {
  const double limit = std::sqrt(6.0 / (20 + 30));
  CHECK(initialise(parameter(f32({20, 30}), Start::Glorot, 0, 0, 5)) ==
        initialise(parameter(f32({20, 30}), Start::Uniform, -limit, limit, 5)));
}

TEST_CASE("an element depends on seed and index only, and its bits are the same anywhere") {
  const Literal small = initialise(parameter(f32({4}), Start::Normal, 0, 1, 7));
  const Literal large = initialise(parameter(f32({2, 50}), Start::Normal, 0, 1, 7));
  for (int64_t i = 0; i < 4; ++i) {
    CHECK(small.at(i) == large.at(i));
  }
  CHECK(!(initialise(parameter(f32({4}), Start::Normal, 0, 1, 8)) == small));
  // Block 0 of seed 0 is 6627e8d5 e169c58d …, so u = 0xe169c58d6627e8d5 >> 11 as a fraction of 2^53.
  const double u = double(0xe169c58d6627e8d5ULL >> 11) / 9007199254740992.0;
  CHECK(initialise(parameter(f64({1}), Start::Uniform, 0, 1, 0)).at(0) == u);
}

} // namespace dfc
