// The functions of one float, and pow, over all of their range and at their edges, against the C library in a
// wider type. The bounds are what was measured on samples of a million, with a little on top:
// erf 3.7 ulp, gelu 7.2, sin and cos 2.6 (f32: rounded once), pow 0.51. Formulas as such are in
// kernels_formula_test.cpp.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

using Wide = long double;
using Function = std::function<Wide(Wide)>;

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

Wide wideGelu(Wide a) { return a / 2 * std::erfc(-a * std::sqrt(Wide(0.5))); }
Wide wideSigmoid(Wide a) { return 1 / (1 + std::exp(-a)); }
Wide wideGeluTanh(Wide a) { // 2 sqrt(2/pi) = sqrt(8/pi); pi is 4 atan 1
  return a * wideSigmoid(std::sqrt(2 / std::atan(Wide(1))) * (a + 0.044715L * a * a * a));
}

struct Span {
  double low, high;
};

void checkOver(const OpAttributes& op, ElementType type, const std::vector<Span>& spans,
               const Function& oracle, double ulps, double absolute = 0) {
  for (const Span& span : spans) {
    const Literal from = randomLiteral({type, {4001}}, 51, span.low, span.high);
    INFO(nameOf(kindOf(op)) << " of " << name(type) << " from " << span.low << " to " << span.high);
    checkElements(
        runKernel(op, {from}), [&](int64_t i) { return static_cast<double>(oracle(from.at(i))); }, ulps,
        absolute);
  }
}

double powOf(ElementType type, double a, double b) {
  return runKernel(ops::Pow{}, {literalOf(type, {}, {a}), literalOf(type, {}, {b})}).at(0);
}
double at(const OpAttributes& op, ElementType type, double a) {
  return runKernel(op, {literalOf(type, {}, {a})}).at(0);
}
bool isNegativeZero(double value) { return value == 0 && std::signbit(value); }

ops::Gelu geluOp(ops::Gelu::Approximation approximate) {
  ops::Gelu op;
  op.approximate = approximate;
  return op;
}

} // namespace

TEST_CASE("erf and gelu are good to a few ulp over their whole range, in the tails too") {
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    const bool wide = type == ElementType::F64;
    const auto erf = [](Wide a) { return std::erf(a); };
    checkOver(ops::Erf{}, type, {{-6, 6}, {-1, 1}, {0.4, 0.6}, {-1e-3, 1e-3}, {-1e-30, 1e-30}}, erf, 4);
    checkOver(ops::Gelu{}, type, {{-6, 6}, {-1, 1}, {-1e-3, 1e-3}, {0, 1e30}}, wideGelu, 8);
    checkOver(ops::Gelu{}, type, {wide ? Span{-39, -3} : Span{-14.5, -3}}, wideGelu, 8);
  }
}

// x has four roundings of half an epsilon, which the exponential of 2 x carries: 4 |2 x| half ulps. At -4,
// 2 x = -1.6 * (4 + 0.0447 * 64) = -11, hence 22 ulp.
TEST_CASE("the tanh form of gelu is good to its exponent's rounding") {
  const ops::Gelu op = geluOp(ops::Gelu::Approximation::Tanh);
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    checkOver(op, type, {{-1, 10}, {-1e-3, 1e-3}, {1, 1e30}}, wideGeluTanh, 8);
    checkOver(op, type, {{-4, -1}}, wideGeluTanh, 4 + 22);
    CHECK(isNegativeZero(at(op, type, -1e30)));
    CHECK(at(op, type, 1e30) == roundedTo(type, 1e30));
  }
  CHECK(at(op, ElementType::F16, 300) == 300); // 300^3 overflows f16, but not the f32 it is computed in
}

TEST_CASE("sin and cos are good to a few ulp for every argument") {
  const auto sin = [](Wide a) { return std::sin(a); };
  const auto cos = [](Wide a) { return std::cos(a); };
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    const double ulps = type == ElementType::F32 ? 0.51 : 3;
    const double most = type == ElementType::F32 ? 3e38 : 1e300;
    const std::vector<Span> spans = {{-4, 4},       {-100, 100},   {-39000, 39000}, {38000, 40000},
                                     {-1e-3, 1e-3}, {-1e15, 1e15}, {-most, most}};
    checkOver(ops::Sin{}, type, spans, sin, ulps);
    checkOver(ops::Cos{}, type, spans, cos, ulps);
    // Next to multiples of pi / 2, where one of the two is all cancellation.
    std::vector<double> near;
    for (int k = 1; k < 24000; k += 7) {
      near.push_back(k * 1.57079632679489661923);
    }
    const Literal a = literalOf(type, {static_cast<int64_t>(near.size())}, near);
    checkElements(
        runKernel(ops::Sin{}, {a}), [&](int64_t i) { return double(sin(a.at(i))); }, ulps);
    checkElements(
        runKernel(ops::Cos{}, {a}), [&](int64_t i) { return double(cos(a.at(i))); }, ulps);
  }
}

// The C library's f64 is off by 0.51 ulp at most, so now and then by one from what is right.
TEST_CASE("pow is good to half an ulp for all magnitudes") {
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    for (const auto& [base, exponent] : std::vector<std::pair<Span, Span>>{
             {{0.01, 10}, {-5, 5}}, {{0, 1e-37}, {-1, 3}}, {{1, 1e30}, {-2, 2}}, {{0.9, 1.1}, {-800, 800}}}) {
      const Literal a = randomLiteral({type, {4001}}, 52, base.low, base.high);
      const Literal b = randomLiteral({type, {4001}}, 53, exponent.low, exponent.high);
      checkElements(
          runKernel(ops::Pow{}, {a, b}),
          [&](int64_t i) { return double(std::pow(Wide(a.at(i)), Wide(b.at(i)))); },
          type == ElementType::F32 ? 0.51 : 1);
    }
  }
}

TEST_CASE("pow has the edges of C's pow") { // ISO C, F.10.4.4
  for (const ElementType type : floatTypes) {
    INFO(name(type));
    for (const double b : {0.0, -0.0, 3.0, -2.5, inf, -inf, nan}) {
      CHECK(powOf(type, 1, b) == 1);
    }
    for (const double a : {0.0, -0.0, 3.0, -2.5, inf, -inf, nan}) {
      CHECK(powOf(type, a, 0) == 1);
      CHECK(powOf(type, a, -0.0) == 1);
    }
    CHECK(powOf(type, 0, -3) == inf);
    CHECK(powOf(type, -0.0, -3) == -inf);
    CHECK(powOf(type, -0.0, -2) == inf);
    CHECK(powOf(type, -0.0, -2.5) == inf);
    CHECK(powOf(type, -0.0, -inf) == inf);
    CHECK(isNegativeZero(powOf(type, -0.0, 3)));
    CHECK_FALSE(std::signbit(powOf(type, -0.0, 2)));
    CHECK(powOf(type, -1, inf) == 1);
    CHECK(powOf(type, -1, -inf) == 1);
    CHECK(powOf(type, -2, 3) == -8);
    CHECK(powOf(type, -2, 4) == 16);
    CHECK(std::isnan(powOf(type, -2, 0.5)));
    CHECK(powOf(type, 0.5, inf) == 0);
    CHECK(powOf(type, -0.5, -inf) == inf);
    CHECK(powOf(type, -2, inf) == inf);
    CHECK(powOf(type, 2, -inf) == 0);
    CHECK(isNegativeZero(powOf(type, -inf, -3)));
    CHECK(powOf(type, -inf, 3) == -inf);
    CHECK(powOf(type, -inf, 2) == inf);
    CHECK(powOf(type, -inf, 0.5) == inf);
    CHECK(powOf(type, inf, -0.5) == 0);
    CHECK(std::isnan(powOf(type, nan, 1)));
    CHECK(std::isnan(powOf(type, -1, nan)));
    const double overflow = type == ElementType::F16 ? 400 : 1e200;
    CHECK(powOf(type, -overflow, 3) == -inf);
  }
  // 16777217 = 2^24 + 1 is no f32; 2^24 + 2 is even and so is every larger f32.
  CHECK(powOf(ElementType::F32, -1, 16777215) == -1);
  CHECK(powOf(ElementType::F32, -1, 16777218) == 1);
  CHECK(powOf(ElementType::F32, 2, -149) == 0x1p-149);
}

TEST_CASE("zeros keep their sign, and halves go to the even number") {
  for (const ElementType type : floatTypes) {
    INFO(name(type));
    for (const OpAttributes& op :
         {OpAttributes(ops::Sign{}), OpAttributes(ops::Floor{}), OpAttributes(ops::Ceil{}),
          OpAttributes(ops::Round{}), OpAttributes(ops::Sin{}), OpAttributes(ops::Erf{}),
          OpAttributes(ops::Silu{}), OpAttributes(geluOp(ops::Gelu::Approximation::None)),
          OpAttributes(geluOp(ops::Gelu::Approximation::Tanh))}) {
      INFO(nameOf(kindOf(op)));
      CHECK(isNegativeZero(at(op, type, -0.0)));
      CHECK_FALSE(std::signbit(at(op, type, 0.0)));
    }
    CHECK(at(ops::Reciprocal{}, type, -0.0) == -inf);
    CHECK(at(ops::Rsqrt{}, type, -0.0) == -inf);
    CHECK_FALSE(std::signbit(at(ops::Abs{}, type, -0.0)));
    CHECK(isNegativeZero(at(ops::Ceil{}, type, -0.5)));
    CHECK(isNegativeZero(at(ops::Round{}, type, -0.5)));
    CHECK(at(ops::Round{}, type, 2.5) == 2);
    CHECK(at(ops::Round{}, type, 3.5) == 4);
    CHECK(at(ops::Floor{}, type, -0.5) == -1);
    CHECK(at(ops::Sign{}, type, -ulp(type, 0)) == -1);
    CHECK(std::isnan(at(ops::Sign{}, type, nan)));
  }
  for (const double large : {0x1p23 + 1, 0x1p30, 0x1p62}) { // whole numbers already
    for (const ElementType type : {ElementType::F32, ElementType::F64}) {
      CHECK(at(ops::Floor{}, type, -large) == -large);
      CHECK(at(ops::Ceil{}, type, large) == large);
      CHECK(at(ops::Round{}, type, large) == large);
    }
  }
  CHECK(at(ops::Round{}, ElementType::F64, 0x1p52 - 0.5) == 0x1p52); // to even
}

TEST_CASE("clip takes the larger of a and low, then the smaller of that and high") {
  const auto clipped = [](ElementType type, double a, double low, double high) {
    return runKernel(ops::Clip{},
                     {literalOf(type, {}, {a}), literalOf(type, {}, {low}), literalOf(type, {}, {high})})
        .at(0);
  };
  for (const ElementType type : allElementTypes) {
    if (type == ElementType::Bool) {
      continue;
    }
    CHECK(clipped(type, 5, 1, 3) == 3);
    CHECK(clipped(type, 0, 1, 3) == 1);
    CHECK(clipped(type, 2, 1, 3) == 2);
    CHECK(clipped(type, 2, 3, 1) == 1);
    if (isFloat(type)) {
      CHECK(std::isnan(clipped(type, nan, 1, 3)));
      CHECK(std::isnan(clipped(type, 2, nan, 3)));
      CHECK(std::isnan(clipped(type, 2, 1, nan)));
      CHECK(clipped(type, -inf, -inf, inf) == -inf);
    }
  }
  const Literal a = randomLiteral(f32({3, 700}), 54, -4, 4), low = randomLiteral(f32({700}), 55, -2, 0);
  const Literal high = randomLiteral(f32({3, 1}), 56, 0, 2);
  checkElements(
      runKernel(ops::Clip{}, {a, low, high}),
      [&](int64_t i) { return std::clamp(a.at(i), low.at(i % 700), high.at(i / 700)); }, 0);
}

TEST_CASE("the magnitude of the lowest integer is itself, and not turns every bit that a type has") {
  const auto lowest = std::numeric_limits<int32_t>::lowest();
  CHECK(runKernel(ops::Abs{}, {Literal::scalar(lowest)}) == Literal::scalar(lowest));
  const auto lowest64 = std::numeric_limits<int64_t>::lowest();
  CHECK(runKernel(ops::Abs{}, {Literal::scalar(lowest64)}) == Literal::scalar(lowest64));
  CHECK(runKernel(ops::Sign{}, {Literal::scalar(lowest64)}) == Literal::scalar<int64_t>(-1));
  CHECK(at(ops::Not{}, ElementType::U8, 0x0f) == 0xf0);
  CHECK(at(ops::Not{}, ElementType::I32, 7) == -8);
  CHECK(at(ops::Not{}, ElementType::Bool, 1) == 0);
  CHECK(at(ops::Not{}, ElementType::Bool, 0) == 1);
}

} // namespace dfc::testing
