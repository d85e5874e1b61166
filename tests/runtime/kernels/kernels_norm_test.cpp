// layerNorm and rmsNorm against plain double loops; dropout against Philox itself, word by word.
#include "ir/base/philox.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

const std::vector<std::pair<Shape, int64_t>> normShapes = {
    {{1}, 0},    {{10}, 0},       {{3, 10}, 1},  {{2, 5, 40}, 1}, {{2, 5, 40}, -1},
    {{0, 3}, 1}, {{2, 3000}, -1}, {{500, 7}, 1}, {{3, 0}, 1},     {{4, 6, 5}, 0},
};

Shape rowOf(const Shape& shape, int64_t axis) {
  return Shape(
      dimRange(shape).drop_front(static_cast<size_t>(axis < 0 ? axis + int64_t(shape.rank()) : axis)));
}

// A normalised element in long double, before scale and bias.
std::vector<double> normalised(const Literal& a, int64_t length, double epsilon, bool centred) {
  std::vector<double> result;
  for (int64_t first = 0; first < a.type().shape.elements(); first += length) {
    long double mean = 0, square = 0;
    for (int64_t i = 0; i < length && centred; ++i) {
      mean += a.at(first + i);
    }
    mean /= length;
    for (int64_t i = 0; i < length; ++i) {
      square += (a.at(first + i) - mean) * (a.at(first + i) - mean);
    }
    const long double root = std::sqrt(square / length + epsilon);
    for (int64_t i = 0; i < length; ++i) {
      result.push_back(static_cast<double>((a.at(first + i) - mean) / root));
    }
  }
  return result;
}

// With x the normalised operand, r the inverse root and g = cotangent * scale, in long double: the gradients
// r (g - [mean(g)] - x mean(g x)), and the sums over rows of cotangent x and of the cotangent.
struct NormGradients {
  std::vector<double> toA, toScale, toBias;
};

NormGradients gradientsOf(const Literal& a, const Literal& scale, const Literal& cotangent, double epsilon,
                          bool centred) {
  const int64_t length = scale.type().shape.elements(), count = a.type().shape.elements();
  const std::vector<double> x = normalised(a, length, epsilon, centred);
  std::vector<long double> toScale(static_cast<size_t>(length)), toBias(toScale);
  NormGradients result;
  for (int64_t first = 0; first < count; first += length) {
    long double mean = 0, square = 0, g = 0, gx = 0;
    const auto normal = [&](int64_t i) {
      return static_cast<long double>(x[static_cast<size_t>(first + i)]);
    };
    const auto gOf = [&](int64_t i) {
      return static_cast<long double>(cotangent.at(first + i)) * scale.at(i);
    };
    for (int64_t i = 0; i < length; ++i) {
      mean += centred ? a.at(first + i) / static_cast<long double>(length) : 0;
      g += centred ? gOf(i) / length : 0;
      gx += gOf(i) * normal(i) / length;
      toScale[static_cast<size_t>(i)] += cotangent.at(first + i) * normal(i);
      toBias[static_cast<size_t>(i)] += cotangent.at(first + i);
    }
    for (int64_t i = 0; i < length; ++i) {
      square += (a.at(first + i) - mean) * (a.at(first + i) - mean) / length;
    }
    for (int64_t i = 0; i < length; ++i) {
      result.toA.push_back(static_cast<double>((gOf(i) - g - normal(i) * gx) / std::sqrt(square + epsilon)));
    }
  }
  result.toScale.assign(toScale.begin(), toScale.end());
  result.toBias.assign(toBias.begin(), toBias.end());
  return result;
}

std::function<double(int64_t)> elementsOf(const std::vector<double>& values) {
  return [&values](int64_t i) { return values[static_cast<size_t>(i)]; };
}

// Four roundings in f32 (or f64): of the difference, the root, the product and the sum with the bias.
double slackOf(ElementType type) { return type == ElementType::F64 ? 0x1p-49 : 0x1p-20; }

} // namespace

TEST_CASE("layerNorm and rmsNorm agree with plain loops over any last axes") {
  for (const ElementType type : floatTypes) {
    for (const auto& [shape, axis] : normShapes) {
      const Shape row = rowOf(shape, axis);
      const int64_t length = row.elements();
      const Literal a = randomLiteral({type, shape}, 91, -3, 5);
      const Literal scale = randomLiteral({type, row}, 92, -2, 2),
                    bias = randomLiteral({type, row}, 93, -2, 2);
      INFO(toString(a.type()) << " from " << axis);
      for (const bool centred : {true, false}) {
        const std::vector<double> normal = normalised(a, length, 1e-3, centred);
        const auto expected = [&](bool biased) {
          return [&, biased](int64_t i) {
            return normal[static_cast<size_t>(i)] * scale.at(i % length) + (biased ? bias.at(i % length) : 0);
          };
        };
        const double slack = slackOf(type) * 100; // an element of at most sqrt(3000), twice, and the bias
        if (centred) {
          const ops::LayerNorm op{{}, axis, 1e-3};
          checkElements(runKernel(op, {a, scale, bias}, 2), expected(true), 1, slack);
          checkElements(runKernel(op, {a, scale}, 1), expected(false), 1, slack);
        } else {
          checkElements(runKernel(ops::RmsNorm{{}, axis, 1e-3}, {a, scale}, 2), expected(false), 1, slack);
        }
      }
    }
  }
}

TEST_CASE("the gradients of layerNorm and rmsNorm agree with plain loops over any last axes") {
  for (const ElementType type : floatTypes) {
    for (const auto& [shape, axis] : normShapes) {
      const Shape row = rowOf(shape, axis);
      const Literal a = randomLiteral({type, shape}, 91, -3, 5),
                    cotangent = randomLiteral({type, shape}, 92, -2, 2);
      const Literal scale = randomLiteral({type, row}, 93, -2, 2);
      INFO(toString(a.type()) << " from " << axis);
      const double slack = slackOf(type) * 1000; // scales of 2, roots of 1 / sqrt(1e-3)
      const NormGradients centred = gradientsOf(a, scale, cotangent, 1e-3, true),
                          plain = gradientsOf(a, scale, cotangent, 1e-3, false);
      for (const bool toScale : {true, false}) {
        for (const bool toBias : {true, false}) {
          const auto results = runKernelForAll(ops::LayerNormGradient{{}, axis, 1e-3, toScale, toBias},
                                               {a, scale, cotangent}, 2);
          REQUIRE(results.size() == 1U + (toScale ? 1 : 0) + (toBias ? 1 : 0));
          checkElements(results[0], elementsOf(centred.toA), 1, slack);
          if (toScale) {
            checkElements(results[1], elementsOf(centred.toScale), 1, slack);
          }
          if (toBias) {
            checkElements(results.back(), elementsOf(centred.toBias), 1, slack);
          }
        }
        const auto results =
            runKernelForAll(ops::RmsNormGradient{{}, axis, 1e-3, toScale}, {a, scale, cotangent}, 2);
        checkElements(results[0], elementsOf(plain.toA), 1, slack);
        if (toScale) {
          checkElements(results[1], elementsOf(plain.toScale), 1, slack);
        }
      }
    }
  }
}

TEST_CASE("the gradient of layerNorm loses nothing to a large mean") {
  Literal a(f32({2, 1000})), cotangent(f32({2, 1000}));
  for (int64_t i = 0; i < 2000;
       ++i) { // deviations of half; the cotangent's mean is 0, and x times it 1 or -1
    a.set(i, 1e6 + static_cast<double>(i % 2));
    cotangent.set(i, i % 4 == 0 || i % 4 == 3 ? 1 : -1);
  }
  const auto results =
      runKernelForAll(ops::LayerNormGradient{{}, -1, 0.75}, {a, filledLiteral(f32({1000}), 1), cotangent});
  checkElements(
      results[0], [&](int64_t i) { return cotangent.at(i); }, 1); // a root of 1, and a mean(g x) of 0
  // x is half of -1 and 1, and there are two rows.
  checkElements(
      results[1], [&](int64_t i) { return (i % 2 == 0 ? -1 : 1) * cotangent.at(i); }, 1);
  checkElements(
      results[2], [&](int64_t i) { return 2 * cotangent.at(i); }, 0);
}

TEST_CASE("layerNorm loses nothing to a large mean") {
  Literal a(f32({1, 1000}));
  for (int64_t i = 0; i < 1000; ++i) {
    a.set(i, 1e6 + static_cast<double>(i % 2)); // exact in f32; deviations of half, a variance of a quarter
  }
  const Literal ones = filledLiteral(f32({1000}), 1);
  for (const double epsilon : {0.0, 0.75}) { // by our own and by oneDNN
    const double expected = epsilon == 0 ? 1 : 0.5;
    checkElements(
        runKernel(ops::LayerNorm{{}, -1, epsilon}, {a, ones}),
        [&](int64_t i) { return i % 2 == 0 ? -expected : expected; }, 1);
  }
}

TEST_CASE("layerNorm of small rows and of large ones") {
  constexpr int64_t length = 40;
  const double sizes[] = {0, 1e-30, 1e-12, 1, 1e14, 1e16, 1e25, 3.4e38};
  Literal a = randomLiteral(f32({300, length}), 97, -1, 1);
  for (int64_t i = 0; i < a.type().shape.elements(); ++i) {
    a.set(i, a.at(i) * sizes[i / length % 8]);
  }
  const Literal ones = filledLiteral(f32({length}), 1);
  for (const double epsilon : {0.0, 1e-12}) {
    const std::vector<double> expected = normalised(a, length, epsilon, true);
    checkElements(
        runKernel(ops::LayerNorm{{}, -1, epsilon}, {a, ones}),
        [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, 16, 0x1p-20);
    const std::vector<double> ofSquares = normalised(a, length, epsilon, false);
    checkElements(
        runKernel(ops::RmsNorm{{}, -1, epsilon}, {a, ones}),
        [&](int64_t i) { return ofSquares[static_cast<size_t>(i)]; }, 16, 0x1p-20);
  }
  Literal far = filledLiteral(f32({1, 16}), -3e38); // further apart than f32 holds
  far.set(0, 3e38);
  for (const double epsilon : {0.0, 1e-5}) {
    // In units of 3e38 a mean of -14 / 16 and a variance of (30^2 + 15 * 2^2) / 16^3.
    checkElements(
        runKernel(ops::LayerNorm{{}, -1, epsilon}, {far, filledLiteral(f32({16}), 1)}),
        [&](int64_t i) { return (i == 0 ? 30.0 / 16 : -2.0 / 16) / std::sqrt(960.0 / 4096); }, 16);
  }
}

TEST_CASE("norms give the same bits with one thread and with three, and NaN in its own row only") {
  Literal a = randomLiteral(f32({4000, 50}), 94);
  const Literal scale = randomLiteral(f32({50}), 95);
  CHECK(runKernel(ops::LayerNorm{}, {a, scale, scale}, 1) ==
        runKernel(ops::LayerNorm{}, {a, scale, scale}, 3));
  CHECK(runKernel(ops::RmsNorm{}, {a, scale}, 1) == runKernel(ops::RmsNorm{}, {a, scale}, 3));
  for (const int64_t length : {50, 3000}) {
    const Literal b = randomLiteral(f32({300, length}), 98), c = randomLiteral(f32({300, length}), 99),
                  row = randomLiteral(f32({length}), 100);
    CHECK(runKernelForAll(ops::LayerNormGradient{}, {b, row, c}, 1) ==
          runKernelForAll(ops::LayerNormGradient{}, {b, row, c}, 3));
    CHECK(runKernelForAll(ops::RmsNormGradient{}, {b, row, c}, 1) ==
          runKernelForAll(ops::RmsNormGradient{}, {b, row, c}, 3));
  }
  const Literal tame = runKernel(ops::LayerNorm{}, {a, scale, scale});
  a.set(60, std::nan(""));
  a.set(3999 * 50, std::numeric_limits<double>::infinity());
  const Literal got = runKernel(ops::LayerNorm{}, {a, scale, scale});
  for (int64_t i = 0; i < 4000 * 50; ++i) {
    const bool spoilt = i / 50 == 1 || i / 50 == 3999;
    CHECK((spoilt ? std::isnan(got.at(i)) : got.at(i) == tame.at(i)));
  }
}

TEST_CASE("dropout draws Philox words for every element, whatever the thread and the type") {
  const double rate = 0.3;
  const auto threshold = static_cast<uint32_t>(rate * 0x1p32);
  for (const ElementType type : floatTypes) {
    for (const int64_t count : {0, 1, 6, 64, 1023, 5000}) {
      const Literal a = randomLiteral({type, {count}}, 96, 1, 4);
      const Literal step = Literal::scalar(int64_t(5) << 40 | 3);
      const ops::Dropout op{{}, rate, -2, {}};
      const Literal got = runKernel(op, {a, step});
      CHECK(got == runKernel(op, {a, step}, 3));
      const double factor =
          type == ElementType::F64 ? 1 / 0.7 : static_cast<double>(static_cast<float>(1 / 0.7));
      checkElements(
          got,
          [&](int64_t i) {
            const PhiloxCounter words = philox({static_cast<uint32_t>(i / 4), 0, 3, 5U << 8},
                                               {0xFFFFFFFEU, 0xFFFFFFFFU}); // the seed's words, low first
            const double kept = a.at(i) * factor; // exact in f64 but for f64, whose product rounds the same
            return words[static_cast<size_t>(i % 4)] < threshold
                       ? 0
                       : (type == ElementType::F64 ? kept : static_cast<double>(static_cast<float>(kept)));
          },
          0);
    }
  }
}

TEST_CASE("dropout drops about the part that it should, and NaN is dropped like any other") {
  const Literal a = filledLiteral(f32({100000}), std::nan(""));
  const Literal got = runKernel(ops::Dropout{{}, 0.25, 1, {}}, {a, Literal::scalar(int64_t(0))}, 2);
  int64_t zeros = 0;
  for (int64_t i = 0; i < 100000; ++i) {
    zeros += got.at(i) == 0 ? 1 : 0;
  }
  CHECK(std::abs(zeros - 25000) < 700); // five deviations of sqrt(100000 * 0.25 * 0.75) = 137
}

} // namespace dfc::testing
