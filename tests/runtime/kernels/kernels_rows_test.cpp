// argMax, softmax, logSoftmax, softmaxCrossEntropy and its gradient, against plain double loops.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

// The elements of the row along `axis` that element `at` lies in, and its own place there.
struct Row {
  std::vector<double> values;
  size_t place = 0;
};

Row rowThrough(const Literal& literal, int64_t at, size_t axis) {
  const Shape& shape = literal.type().shape;
  Index index = indexOf(shape, at);
  Row row;
  row.place = static_cast<size_t>(index[axis]);
  for (index[axis] = 0; index[axis] < shape[axis]; ++index[axis]) {
    row.values.push_back(literal.at(offsetOf(shape, index)));
  }
  return row;
}

// max + log(sum(exp(x - max))), in long double so that f64 kernels can be judged by it.
long double logSumExp(const std::vector<double>& values) {
  const long double most = *std::max_element(values.begin(), values.end());
  long double sum = 0;
  for (const double value : values) {
    sum += std::exp(value - most);
  }
  return most + std::log(sum);
}

// logSoftmax along an axis, element by element.
std::vector<long double> logSoftmaxOf(const Literal& from, size_t axis) {
  const Shape& shape = from.type().shape;
  std::vector<long double> result(static_cast<size_t>(shape.elements()));
  for (int64_t i = 0; i < shape.elements(); ++i) {
    Index index = indexOf(shape, i);
    if (index[axis] != 0) {
      continue; // done with its row
    }
    const Row row = rowThrough(from, i, axis);
    const long double total = logSumExp(row.values);
    for (; index[axis] < shape[axis]; ++index[axis]) {
      const auto place = static_cast<size_t>(index[axis]);
      result[static_cast<size_t>(offsetOf(shape, index))] = row.values[place] - total;
    }
  }
  return result;
}

Literal labelsOf(ElementType type, int64_t rows, int64_t classes) {
  Literal labels(TensorType{type, {rows}});
  for (int64_t i = 0; i < rows; ++i) {
    labels.set(i, double(i * 7 % classes));
  }
  return labels;
}

// exp, the sum and the quotient: a few ulp for f32 and f64, one rounding for the 16-bit types. The difference
// x - max is rounded to the lane type, which moves exp by as much relatively: 20 * 2^-24 at most here.
// oneDNN's exponential and its sum in f32 take twice as much again on some instruction sets.
double relativeSlack(ElementType type) {
  switch (type) {
  case ElementType::F32: return 75;
  case ElementType::F64: return 25;
  default: return 1.01;
  }
}

} // namespace

TEST_CASE("softmax and logSoftmax agree with plain loops along every axis") {
  const std::vector<std::pair<Shape, int64_t>> cases = {
      {{10}, 0},
      {{3, 10}, 1},
      {{3, 10}, 0},
      {{2, 5, 40}, 1},
      {{2, 1500}, -1},
      {{1200, 3}, 0},
      {{4, 1}, 1},
      {{0, 3}, 1},
      {{260, 130}, 1}, // groups of rows, of which the last is smaller
      {{3, 8192}, 1},  // as long as what oneDNN is given, and longer
      {{2, 8193}, 1},
      // Side by side, in groups of which the last is smaller.
      {{0, 20}, 0},
      {{9, 300}, 0},
      {{2, 5000, 37}, 1},
  };
  for (const ElementType type : floatTypes) {
    for (const auto& [shape, axis] : cases) {
      const Literal from = randomLiteral({type, shape}, 61, -10, 10);
      const auto along = static_cast<size_t>(axis < 0 ? axis + int64_t(shape.rank()) : axis);
      INFO(toString(from.type()) << " along " << axis);
      const std::vector<long double> expected = logSoftmaxOf(from, along);
      const auto at = [&](int64_t i) { return expected[static_cast<size_t>(i)]; };
      checkElements(
          runKernel(ops::Softmax{{}, axis}, {from}), [&](int64_t i) { return double(std::exp(at(i))); },
          relativeSlack(type));
      checkElements(
          runKernel(ops::LogSoftmax{{}, axis}, {from}), [&](int64_t i) { return double(at(i)); }, 4,
          type == ElementType::F64   ? 1e-14
          : type == ElementType::F32 ? 4e-6
                                     : 0.0);
    }
  }
}

TEST_CASE("softmax neither overflows nor loses the largest") {
  const Literal large = literalOf(ElementType::F32, {1, 3}, {1000, 1000, -1000});
  const Literal soft = runKernel(ops::Softmax{}, {large});
  CHECK(soft.at(0) == 0.5); // exp(0) / (exp(0) + exp(0) + exp(-2000))
  CHECK(soft.at(2) == 0);
  CHECK(runKernel(ops::LogSoftmax{}, {large}).at(2) == Approx(-2000 - std::log(2.0)));
  const double inf = std::numeric_limits<double>::infinity();
  for (const int64_t axis : {0, 1}) { // a masked class takes no share, and NaN spoils its own row only
    const Dims two = {2, 2};
    const Literal rows = literalOf(ElementType::F32, Shape(two), {-inf, 3, 3, 3});
    CHECK(runKernel(ops::Softmax{{}, axis}, {rows}).at(0) == 0);
    CHECK(runKernel(ops::Softmax{{}, axis}, {rows}).at(axis == 0 ? 2 : 1) == 1);
    const Literal spoilt = literalOf(ElementType::F32, Shape(two), {std::nan(""), 3, 3, 3});
    for (const bool logarithm : {false, true}) {
      const Literal got = logarithm ? runKernel(ops::LogSoftmax{{}, axis}, {spoilt})
                                    : runKernel(ops::Softmax{{}, axis}, {spoilt});
      CHECK(std::isnan(got.at(0)));
      CHECK(std::isnan(got.at(axis == 0 ? 2 : 1)));
      CHECK(!std::isnan(got.at(3)));
    }
  }
}

TEST_CASE("softmax gives what is normal in f32 down to 2^-125") {
  Literal row(f32({2, 120}));
  for (int64_t i = 0; i < 240; ++i) {
    row.set(i, -static_cast<double>(i % 120));
  }
  const std::vector<long double> expected = logSoftmaxOf(row, 1);
  const Literal got = runKernel(ops::Softmax{}, {row});
  for (int64_t i = 0; i < 240; ++i) {
    const auto want = static_cast<double>(std::exp(expected[static_cast<size_t>(i)]));
    INFO(i << ": " << got.at(i) << ", expected " << want);
    CHECK(std::fabs(got.at(i) - want) <= (want >= 0x1p-125 ? want * 1e-5 : 0x1p-125));
  }
}

TEST_CASE("what is odd in a row of softmax does not change a bit of the rows beside it") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Literal tame = randomLiteral(f32({300, 100}), 63, -50, 50);
  for (const bool logarithm : {false, true}) {
    const auto run = [&](const Literal& from) {
      return logarithm ? runKernel(ops::LogSoftmax{}, {from}) : runKernel(ops::Softmax{}, {from});
    };
    Literal wild = tame;
    wild.set(2 * 100 + 40, std::nan(""));
    wild.set(5 * 100, inf);
    wild.set(299 * 100 + 99, -inf); // a class that is masked out
    for (int64_t i = 0; i < 100; ++i) {
      wild.set(170 * 100 + i, -inf);
    }
    const Literal got = run(wild), expected = run(tame);
    for (int64_t i = 0; i < 30000; ++i) {
      INFO(i << (logarithm ? ", logarithm" : ""));
      const int64_t row = i / 100;
      if (row == 2 || row == 5 || row == 170) {
        CHECK(std::isnan(got.at(i)));
      } else if (row == 299) {
        const bool masked = i == 29999;
        CHECK((masked ? got.at(i) == (logarithm ? -inf : 0)
                      : std::fabs(got.at(i) - expected.at(i)) <= 1 && std::isfinite(got.at(i))));
      } else {
        CHECK(got.at(i) == expected.at(i));
      }
    }
  }
  CHECK(runKernel(ops::LogSoftmax{}, {literalOf(ElementType::F32, {1, 1}, {3})}).at(0) == 0);
}

TEST_CASE("a row of softmax side by side with others keeps its infinities and NaN to itself") {
  const double inf = std::numeric_limits<double>::infinity();
  Literal rows(TensorType{ElementType::F32, {3, 40}});
  for (const auto& [row, value] : {std::pair<int64_t, double>{5, std::nan("")}, {7, inf}, {33, -inf}}) {
    rows.set(40 + row, value);
  }
  for (const bool logarithm : {false, true}) {
    const Literal got =
        logarithm ? runKernel(ops::LogSoftmax{{}, 0}, {rows}) : runKernel(ops::Softmax{{}, 0}, {rows});
    for (int64_t i = 0; i < 120; ++i) {
      INFO(i);
      const bool spoilt = i % 40 == 5 || i % 40 == 7;
      CHECK(std::isnan(got.at(i)) == spoilt);
      const double share = i % 40 == 33 ? (i / 40 == 1 ? 0 : 0.5) : 1.0 / 3;
      CHECK((spoilt || got.at(i) == Approx(logarithm ? std::log(share) : share)));
    }
  }
}

TEST_CASE("argMax gives the first largest, NaN above all, for every type and axis") {
  for (const ElementType type : allElementTypes) {
    for (const int64_t axis : {0, 1, -1}) {
      ops::ArgMax op;
      op.axis = axis;
      Literal from = randomLiteral({type, {4, 9, 5}}, 62, 0, 6); // few values, so that many are equal
      if (!resultTypes(op, {from.type()}).ok()) {
        continue;
      }
      if (isFloat(type)) {
        from.set(17, std::nan(""));
        from.set(27, std::nan(""));
        from.set(22, std::nan(""));
      }
      const auto along = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      const Literal got = runKernel(op, {from});
      checkElements(
          got,
          [&](int64_t i) {
            Index index = indexOf(got.type().shape, i);
            index.insert(index.begin() + std::ptrdiff_t(along), 0);
            const Row row = rowThrough(from, offsetOf(from.type().shape, index), along);
            size_t best = 0;
            for (size_t k = 0; k < row.values.size(); ++k) {
              const bool above = std::isnan(row.values[k]) || row.values[k] > row.values[best];
              best = above && !std::isnan(row.values[best]) ? k : best;
            }
            return double(best);
          },
          0);
    }
  }
}

TEST_CASE("softmaxCrossEntropy is the mean of -logSoftmax at the labels") {
  for (const ElementType type : floatTypes) {
    for (const ElementType labelType : {ElementType::I32, ElementType::I64}) {
      for (const auto& [rows, classes] : {std::pair<int64_t, int64_t>{1, 1}, {7, 10}, {300, 10}, {3, 2500}}) {
        const Literal logits = randomLiteral({type, {rows, classes}}, 63, -8, 8);
        const Literal labels = labelsOf(labelType, rows, classes);
        double sum = 0;
        for (int64_t row = 0; row < rows; ++row) {
          const Row values = rowThrough(logits, row * classes, 1);
          sum += double(logSumExp(values.values)) - values.values[static_cast<size_t>(labels.at(row))];
        }
        const double tolerance =
            type == ElementType::F64 ? 1e-13 : 4e-6; // the f32 rows round near 16 * 2^-24
        checkElements(
            runKernel(ops::SoftmaxCrossEntropy{}, {logits, labels}),
            [&](int64_t) { return sum / double(rows); }, 1, tolerance);
      }
    }
  }
}

TEST_CASE("softmaxCrossEntropy of 16-bit logits: with loss=f32 the loss is rounded to f32 only") {
  for (const ElementType type : {ElementType::F16, ElementType::BF16}) {
    const Literal logits = randomLiteral({type, {37, 130}}, 63, -8, 8);
    const Literal labels = labelsOf(ElementType::I64, 37, 130);
    ops::SoftmaxCrossEntropy narrow, wide;
    wide.loss = LossType::F32;
    double sum = 0;
    const std::vector<long double> expected = logSoftmaxOf(logits, 1);
    for (int64_t row = 0; row < 37; ++row) {
      sum -= double(expected[static_cast<size_t>(row * 130 + static_cast<int64_t>(labels.at(row)))]);
    }
    const Literal loss = runKernel(wide, {logits, labels});
    REQUIRE(loss.type() == f32({}));
    checkElements(
        loss, [&](int64_t) { return sum / 37; }, 1, 4e-6); // the f32 rows round near 16 * 2^-24
    Literal rounded({type, {}});
    rounded.set(0, loss.at(0));
    CHECK(runKernel(narrow, {logits, labels}) == rounded);

    const Literal gradient = // 1e5 would be infinite in f16
        runKernel(ops::SoftmaxCrossEntropyGradient{}, {logits, labels, Literal::scalar(1e5F)});
    REQUIRE(gradient.type() == logits.type());
    const auto derivative = [&](int64_t i) {
      const bool chosen = i % 130 == static_cast<int64_t>(labels.at(i / 130));
      return 1e5 * (double(std::exp(expected[static_cast<size_t>(i)])) - (chosen ? 1 : 0)) / 37;
    };
    checkElements(gradient, derivative, relativeSlack(type), 1e-3); // near 1e5 / 37 * 2^-22
  }
}

TEST_CASE("softmaxCrossEntropyGradient is cotangent (softmax - oneHot) / rows") {
  for (const ElementType type : floatTypes) {
    const int64_t rows = 6, classes = 11;
    const Literal logits = randomLiteral({type, {rows, classes}}, 64, -5, 5);
    const Literal labels = labelsOf(ElementType::I64, rows, classes);
    const Literal cotangent = literalOf(type, {}, {1.5});
    const double tolerance = type == ElementType::F64 ? 1e-15 : 1e-7;
    const std::vector<long double> expected = logSoftmaxOf(logits, 1);
    checkElements(
        runKernel(ops::SoftmaxCrossEntropyGradient{}, {logits, labels, cotangent}),
        [&](int64_t i) {
          const bool chosen = i % classes == static_cast<int64_t>(labels.at(i / classes));
          const auto share = double(std::exp(expected[static_cast<size_t>(i)]));
          return 1.5 * (share - (chosen ? 1 : 0)) / double(rows);
        },
        relativeSlack(type), tolerance);
  }
}

TEST_CASE("a label outside the classes gives NaN, in its own row only") {
  const Literal logits = randomLiteral(f32({3, 4}), 65);
  const double above32Bits = 4294967296.0 + 2;
  for (const double wrong : {-1.0, 4.0, 1e9, above32Bits}) {
    const Literal labels =
        literalOf(wrong == above32Bits ? ElementType::I64 : ElementType::I32, {3}, {0, wrong, 2});
    CHECK(std::isnan(runKernel(ops::SoftmaxCrossEntropy{}, {logits, labels}).at(0)));
    const Literal gradient =
        runKernel(ops::SoftmaxCrossEntropyGradient{}, {logits, labels, Literal::scalar(1.0F)});
    for (int64_t i = 0; i < 12; ++i) {
      CHECK(std::isnan(gradient.at(i)) == (i / 4 == 1));
    }
  }
}

TEST_CASE("row kernels give the same bits with one thread and with three") {
  const Literal logits = randomLiteral(f32({4000, 30}), 66);
  const Literal labels = labelsOf(ElementType::I32, 4000, 30);
  const Literal one = Literal::scalar(1.0F);
  for (const int64_t axis : {0, 1}) {
    CHECK(runKernel(ops::Softmax{{}, axis}, {logits}, 1) == runKernel(ops::Softmax{{}, axis}, {logits}, 3));
    CHECK(runKernel(ops::LogSoftmax{{}, axis}, {logits}, 1) ==
          runKernel(ops::LogSoftmax{{}, axis}, {logits}, 3));
  }
  CHECK(runKernel(ops::ArgMax{}, {logits}, 1) == runKernel(ops::ArgMax{}, {logits}, 3));
  CHECK(runKernel(ops::SoftmaxCrossEntropy{}, {logits, labels}, 1) ==
        runKernel(ops::SoftmaxCrossEntropy{}, {logits, labels}, 3));
  CHECK(runKernel(ops::SoftmaxCrossEntropyGradient{}, {logits, labels, one}, 1) ==
        runKernel(ops::SoftmaxCrossEntropyGradient{}, {logits, labels, one}, 3));
}

} // namespace dfc::testing
