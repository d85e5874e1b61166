// Pools on the cpu against plain double loops: every type, strides, padding, dilations, ties and NaN; the
// same bits for any number of threads.
#include "ir/graph/rules/windows.h"
#include "runtime/cpu/kernels/windows/pools.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

Dims dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

template <class Op>
Op pool(const Dims& window, const Dims& strides, const Dims& low, const Dims& high) {
  Op op;
  op.window = window;
  op.strides = strides;
  op.low = low;
  op.high = high;
  return op;
}

struct PoolCase {
  Shape image;
  Dims window, strides, low, high, dilations;
};

const std::vector<PoolCase> pools = {
    {{2, 3, 6, 7}, {2, 2}, {2, 2}, {}, {}, {}},
    {{1, 2, 7, 9}, {3, 3}, {}, {1, 1}, {1, 1}, {}},
    {{1, 1, 9, 8}, {3, 2}, {2, 3}, {1, 0}, {2, 1}, {}},
    {{2, 1, 8, 9}, {3, 2}, {1, 2}, {2, 0}, {0, 1}, {2, 3}},
    {{2, 3, 5, 5}, {5, 5}, {}, {}, {}, {}},
    {{1, 1, 1, 40}, {1, 4}, {1, 3}, {0, 3}, {0, 2}, {}},
    {{0, 3, 4, 4}, {2, 2}, {}, {}, {}, {}},
    // Rows of several vectors, the last of which begins further back, with one and two elements to a window;
    // and three, for which there are none.
    {{1, 2, 6, 90}, {3, 3}, {}, {1, 1}, {1, 1}, {}},
    {{1, 2, 4, 145}, {2, 2}, {2, 2}, {}, {}, {}},
    {{1, 2, 7, 76}, {3, 3}, {2, 2}, {1, 1}, {0, 1}, {}},
    {{1, 1, 4, 70}, {2, 3}, {1, 3}, {0, 1}, {0, 2}, {}},
    {{1, 1, 6, 60}, {2, 3}, {2, 2}, {0, 5}, {0, 3}, {3, 4}},
    // So many planes that they are oneDNN's, but for those with a NaN; the last ones fewer.
    {{2, 11, 9, 8}, {3, 2}, {2, 3}, {1, 0}, {2, 1}, {}},
    {{3, 16, 12, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {}},
    {{1, 33, 7, 40}, {2, 4}, {1, 3}, {0, 3}, {0, 2}, {}},
    {{1, 21, 40, 40}, {2, 2}, {2, 2}, {}, {}, {}},
    {{1, 20, 6, 30}, {2, 3}, {2, 2}, {0, 5}, {0, 3}, {3, 4}},
};

// Each window's elements, as places in the image.
template <class Visit>
void forEachWindow(const Shape& image, const Windows& windows, Visit visit) {
  int64_t result = 0;
  for (int64_t plane = 0; plane < image[0] * image[1]; ++plane) {
    for (int64_t row = 0; row < windows.rows.count; ++row) {
      for (int64_t column = 0; column < windows.columns.count; ++column) {
        std::vector<int64_t> places;
        for (int64_t i = 0; i < windows.rows.size; ++i) {
          for (int64_t j = 0; j < windows.columns.size; ++j) {
            const int64_t y = windows.rows.at(row, i), x = windows.columns.at(column, j);
            if (y >= 0 && y < image[2] && x >= 0 && x < image[3]) {
              places.push_back((plane * image[2] + y) * image[3] + x);
            }
          }
        }
        visit(result++, places);
      }
    }
  }
}

int64_t largest(const Literal& a, const std::vector<int64_t>& places) {
  int64_t best = places[0];
  for (const int64_t at : places) {
    const bool better = a.at(at) > a.at(best) || (std::isnan(a.at(at)) && !std::isnan(a.at(best)));
    best = better ? at : best;
  }
  return best;
}

// Ties, and among floats a few NaN in every third plane.
Literal poolImage(const TensorType& type) {
  Literal image = randomLiteral(type, 94, -3, 3.9);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const int64_t plane = i / (type.shape[2] * type.shape[3]);
    const bool odd = isFloat(type.element) && plane % 3 == 0 && i % 37 == 5;
    image.set(i, odd ? std::numeric_limits<double>::quiet_NaN() : std::trunc(image.at(i)));
  }
  return image;
}

} // namespace

TEST_CASE("pools of more comparisons than a 64-bit number counts are made") {
  // 16 x 16 windows of 2^60 places, most of them padding, on each of 4 planes: 2^70 places.
  constexpr int64_t wide = int64_t{1} << 30;
  const TensorType image{ElementType::F32, {2, 2, 15, 15}}, result{ElementType::F32, {2, 2, 16, 16}};
  const Dims window = {wide, wide}, low = {wide - 15, wide - 15}, high = {15, 15};
  ThreadPool threads(2);
  CHECK(makeMaxPoolKernel(pool<ops::MaxPool>(window, {}, low, high), {image}, {result}, threads) != nullptr);
  CHECK(makeAveragePoolKernel(pool<ops::AveragePool>(window, {}, low, high), {image}, {result}, threads) !=
        nullptr);
  const TensorType both[2] = {image, result};
  auto toMax = pool<ops::MaxPoolGradient>(window, {}, low, high);
  CHECK(makeMaxPoolGradientKernel(toMax, both, threads) != nullptr);
  auto toAverage = pool<ops::AveragePoolGradient>(window, {}, low, high);
  CHECK(makeAveragePoolGradientKernel(toAverage, {image}, threads) != nullptr);
}

TEST_CASE("maxPool and its gradient agree with plain loops for every type, ties and NaN included") {
  for (const ElementType type : allElementTypes) {
    for (const PoolCase& c : pools) {
      if (type == ElementType::Bool) {
        continue;
      }
      auto op = pool<ops::MaxPool>(c.window, c.strides, c.low, c.high);
      op.dilations = c.dilations;
      const Windows windows = windowsOf(c.image, windowAttributes(op));
      const Literal a = poolImage({type, c.image});
      INFO(name(type) << " " << toString(c.image));
      const Literal got = runKernel(op, {a}, 2);
      std::vector<double> expected, gradient(static_cast<size_t>(c.image.elements()));
      const Literal cotangent = isFloat(type) ? randomLiteral(got.type(), 95, -2, 2) : Literal(got.type());
      forEachWindow(c.image, windows, [&](int64_t result, const std::vector<int64_t>& places) {
        const int64_t best = largest(a, places);
        expected.push_back(a.at(best));
        gradient[static_cast<size_t>(best)] += cotangent.at(result);
      });
      checkElements(
          got, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, 0);
      if (!isFloat(type)) {
        continue;
      }
      auto back = pool<ops::MaxPoolGradient>(c.window, c.strides, c.low, c.high);
      back.dilations = c.dilations;
      const double sums = type == ElementType::F64 ? 1e-15 : 2 * double(windows.size()) * 0x1p-24;
      checkElements(
          runKernel(back, {a, cotangent}, 2), [&](int64_t i) { return gradient[static_cast<size_t>(i)]; },
          0.51, sums);
    }
  }
}

TEST_CASE("averagePool and its gradient agree with plain loops") {
  for (const ElementType type : floatTypes) {
    for (const PoolCase& c : pools) {
      for (const bool countPadding : {false, true}) {
        if (!c.dilations.empty()) {
          continue;
        }
        auto op = pool<ops::AveragePool>(c.window, c.strides, c.low, c.high);
        op.countPadding = countPadding;
        const Windows windows = windowsOf(c.image, windowAttributes(op));
        const Literal a = randomLiteral({type, c.image}, 96, -2, 2);
        INFO(name(type) << " " << toString(c.image));
        const Literal got = runKernel(op, {a}, 2);
        const Literal cotangent = randomLiteral(got.type(), 97, -2, 2);
        std::vector<double> expected, gradient(static_cast<size_t>(c.image.elements()));
        forEachWindow(c.image, windows, [&](int64_t result, const std::vector<int64_t>& places) {
          const double count = countPadding ? double(windows.size()) : double(places.size());
          double sum = 0;
          for (const int64_t at : places) {
            sum += a.at(at);
            gradient[static_cast<size_t>(at)] += cotangent.at(result) / count;
          }
          expected.push_back(sum / count);
        });
        // Sums in f32: an addition an element, each of less than 2 for an element so far.
        const double sums = type == ElementType::F64 ? 1e-14 : 2 * double(windows.size()) * 0x1p-24;
        checkElements(
            got, [&](int64_t i) { return expected[static_cast<size_t>(i)]; }, 0.51, sums);
        auto back = pool<ops::AveragePoolGradient>(c.window, c.strides, c.low, c.high);
        back.shape = dimsOf(c.image);
        back.countPadding = countPadding;
        checkElements(
            runKernel(back, {cotangent}, 2), [&](int64_t i) { return gradient[static_cast<size_t>(i)]; },
            0.51, sums);
      }
    }
  }
}

TEST_CASE("pools give the same bits with one thread and with three") {
  const Literal a = randomLiteral(f32({8, 16, 40, 40}), 98);
  const auto largest = pool<ops::MaxPool>({3, 3}, {2, 2}, {1, 1}, {1, 1});
  const auto mean = pool<ops::AveragePool>({3, 3}, {2, 2}, {1, 1}, {1, 1});
  CHECK(runKernel(largest, {a}, 1) == runKernel(largest, {a}, 3));
  CHECK(runKernel(mean, {a}, 1) == runKernel(mean, {a}, 3));
  const Literal cotangent = randomLiteral(f32({8, 16, 20, 20}), 99);
  const auto toLargest = pool<ops::MaxPoolGradient>({3, 3}, {2, 2}, {1, 1}, {1, 1});
  auto toMean = pool<ops::AveragePoolGradient>({3, 3}, {2, 2}, {1, 1}, {1, 1});
  toMean.shape = {8, 16, 40, 40};
  CHECK(runKernel(toLargest, {a, cotangent}, 1) == runKernel(toLargest, {a, cotangent}, 3));
  CHECK(runKernel(toMean, {cotangent}, 1) == runKernel(toMean, {cotangent}, 3));
}

} // namespace dfc::testing
