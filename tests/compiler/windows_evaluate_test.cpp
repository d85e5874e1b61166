// Convolutions, pools and batch normalisation in the evaluator against numbers worked out by hand, among them
// those that the ONNX operator documentation works out.
#include "compiler/interpreter/evaluate.h"
#include "tests/support/catch.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace dfc {
namespace {

const double notANumber = std::numeric_limits<double>::quiet_NaN();

Literal of(const Shape& shape, const std::vector<double>& values, ElementType element = ElementType::F32) {
  Literal literal({element, shape});
  REQUIRE(shape.elements() == static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    literal.set(static_cast<int64_t>(i), values[i]);
  }
  return literal;
}

Literal counted(const Shape& shape, double from, ElementType element = ElementType::F32) {
  std::vector<double> values(static_cast<size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), from);
  return of(shape, values, element);
}

Literal one(const OpAttributes& attributes, const std::vector<Literal>& operands) {
  return evaluateOp(attributes, operands).front();
}

template <class Op>
Op pool(const Dims& window, const Dims& strides = {}, const Dims& low = {}, const Dims& high = {}) {
  Op op;
  op.window = window;
  op.strides = strides;
  op.low = low;
  op.high = high;
  return op;
}

} // namespace

TEST_CASE("evaluate: conv2d as the ONNX documentation works it out") {
  const Literal x = counted({1, 1, 5, 5}, 0), ones = of({1, 1, 3, 3}, std::vector<double>(9, 1));
  ops::Conv2d op;
  op.low = op.high = {1, 1};
  CHECK(one(op, {x, ones}) == of({1, 1, 5, 5}, {12,  21, 27, 33,  24,  33,  54,  63, 72,  51,  63,  99, 108,
                                                117, 81, 93, 144, 153, 162, 111, 72, 111, 117, 123, 84}));
  CHECK(one(ops::Conv2d{}, {x, ones}) == of({1, 1, 3, 3}, {54, 63, 72, 99, 108, 117, 144, 153, 162}));
  const Literal tall = counted({1, 1, 7, 5}, 0);
  op.strides = {2, 2};
  CHECK(one(op, {tall, ones}) == of({1, 1, 4, 3}, {12, 27, 24, 63, 108, 81, 123, 198, 141, 112, 177, 124}));
  op.low = op.high = {1, 0}; // padding along the rows only
  CHECK(one(op, {tall, ones}) == of({1, 1, 4, 2}, {21, 33, 99, 117, 189, 207, 171, 183}));
}

TEST_CASE("evaluate: conv2d is a cross-correlation, with dilations and groups") {
  ops::Conv2d op;
  op.dilations = {1, 2};
  // The filter is not turned round: 1 * 10 + 3 * 100.
  CHECK(one(op, {of({1, 1, 1, 4}, {1, 2, 3, 4}), of({1, 1, 1, 2}, {10, 100})}) ==
        of({1, 1, 1, 2}, {310, 420}));
  ops::Conv2d grouped;
  grouped.groups = 2;
  // Filters 0 and 1 read channel 0, filters 2 and 3 channel 1.
  CHECK(one(grouped, {of({1, 2, 1, 1}, {2, 3}), of({4, 1, 1, 1}, {1, 10, 100, 1000})}) ==
        of({1, 4, 1, 1}, {2, 20, 300, 3000}));
  CHECK(one(ops::Conv2d{}, {of({1, 2, 1, 1}, {2, 3}), of({2, 2, 1, 1}, {1, 10, 100, 1000})}) ==
        of({1, 2, 1, 1}, {32, 3200}));
  CHECK(one(ops::Conv2d{}, {Literal(f32({1, 0, 2, 2})), Literal(f32({1, 0, 1, 1}))}) ==
        of({1, 1, 2, 2}, {0, 0, 0, 0}));
  // f16 rounds once: 2048 + 1 + 1 is 2050, where rounding every sum would stay at 2048.
  CHECK(one(ops::Conv2d{}, {of({1, 1, 1, 3}, {2048, 1, 1}, ElementType::F16),
                            of({1, 1, 1, 3}, {1, 1, 1}, ElementType::F16)}) ==
        of({1, 1, 1, 1}, {2050}, ElementType::F16));
}

TEST_CASE("evaluate: conv2d's gradients as ONNX's ConvTranspose, and by hand") {
  ops::Conv2dInputGradient op;
  op.shape = {1, 1, 5, 5};
  const Literal ones = of({1, 1, 3, 3}, std::vector<double>(9, 1));
  CHECK(one(op, {ones, counted({1, 1, 3, 3}, 0)}) ==
        of({1, 1, 5, 5},
           {0, 1, 3, 3, 2, 3, 8, 15, 12, 7, 9, 21, 36, 27, 15, 9, 20, 33, 24, 13, 6, 13, 21, 15, 8}));
  ops::Conv2dInputGradient strided;
  strided.shape = {1, 1, 1, 5};
  strided.strides = {1, 2};
  CHECK(one(strided, {of({1, 1, 1, 2}, {1, 10}), of({1, 1, 1, 2}, {3, 4})}) ==
        of({1, 1, 1, 5}, {3, 30, 4, 40, 0})); // no window reaches the last
  ops::Conv2dFilterGradient filter;
  filter.shape = {1, 1, 1, 2};
  filter.low = {0, 1};
  // Windows (pad, 1), (1, 2), (2, 3) with cotangents 1, 10, 100: 0 + 10 + 200 and 1 + 20 + 300.
  CHECK(one(filter, {of({1, 1, 1, 3}, {1, 2, 3}), of({1, 1, 1, 3}, {1, 10, 100})}) ==
        of({1, 1, 1, 2}, {210, 321}));
}

TEST_CASE("evaluate: maxPool as the ONNX documentation works it out") {
  const Literal x = counted({1, 1, 5, 5}, 1);
  CHECK(one(pool<ops::MaxPool>({5, 5}, {}, {2, 2}, {2, 2}), {x}) ==
        of({1, 1, 5, 5}, {13, 14, 15, 15, 15, 18, 19, 20, 20, 20, 23, 24, 25,
                          25, 25, 23, 24, 25, 25, 25, 23, 24, 25, 25, 25}));
  CHECK(one(pool<ops::MaxPool>({2, 2}, {2, 2}), {x}) == of({1, 1, 2, 2}, {7, 9, 17, 19}));
  auto dilated = pool<ops::MaxPool>({2, 2});
  dilated.dilations = {2, 2};
  CHECK(one(dilated, {counted({1, 1, 4, 4}, 1)}) == of({1, 1, 2, 2}, {11, 12, 15, 16}));
  CHECK(one(pool<ops::MaxPool>({2, 2}, {}, {1, 1}), {counted({1, 1, 2, 2}, -9, ElementType::I32)}) ==
        of({1, 1, 2, 2}, {-9, -8, -7, -6}, ElementType::I32)); // padding never wins
}

TEST_CASE("evaluate: maxPool lets NaN win; its gradient goes to the first of the largest") {
  const Literal x = of({1, 1, 1, 5}, {1, notANumber, 3, 3, 2});
  const Literal y = one(pool<ops::MaxPool>({1, 2}), {x});
  CHECK(std::isnan(y.at(0)));
  CHECK(std::isnan(y.at(1)));
  CHECK(y.at(2) == 3);
  CHECK(one(pool<ops::MaxPoolGradient>({1, 2}), {x, of({1, 1, 1, 4}, {1, 10, 100, 1000})}) ==
        of({1, 1, 1, 5}, {0, 11, 100, 1000, 0}));
  const Literal least = of({1, 1, 1, 2}, std::vector<double>(2, -std::numeric_limits<double>::infinity()));
  CHECK(one(pool<ops::MaxPoolGradient>({1, 2}, {}, {0, 1}), {least, of({1, 1, 1, 2}, {1, 10})}) ==
        of({1, 1, 1, 2}, {11, 0})); // even against padding
}

TEST_CASE("evaluate: averagePool as the ONNX documentation works it out") {
  const Literal x = counted({1, 1, 5, 5}, 1);
  auto op = pool<ops::AveragePool>({5, 5}, {}, {2, 2}, {2, 2});
  CHECK(one(op, {x}) ==
        of({1, 1, 5, 5}, {7,    7.5, 8,    8.5, 9,    9.5, 10,   10.5, 11,   11.5, 12,   12.5, 13,
                          13.5, 14,  14.5, 15,  15.5, 16,  16.5, 17,   17.5, 18,   18.5, 19}));
  op.countPadding = true;
  const Literal padded = one(op, {x});
  CHECK(padded.at(0) == Approx(2.52));
  CHECK(padded.at(6) == Approx(6.4));
  CHECK(padded.at(12) == Approx(13));
  CHECK(one(pool<ops::AveragePool>({2, 2}, {2, 2}), {x}) == of({1, 1, 2, 2}, {4, 6, 14, 16}));
}

TEST_CASE("evaluate: averagePool's gradient shares a cotangent among what the mean was taken of") {
  auto op = pool<ops::AveragePoolGradient>({1, 2}, {}, {0, 1});
  op.shape = {1, 1, 1, 3};
  const Literal g = of({1, 1, 1, 3}, {1, 10, 100});
  CHECK(one(op, {g}) == of({1, 1, 1, 3}, {6, 55, 50})); // the first window has one element
  op.countPadding = true;
  CHECK(one(op, {g}) == of({1, 1, 1, 3}, {5.5, 55, 50}));
}

TEST_CASE("evaluate: batchNorm by hand") {
  ops::BatchNorm op;
  op.epsilon = 0;
  // Channel 0: (x - 1) / 2 * 10 + 100; channel 1: (x - 2) / 4 * 20 + 200.
  const std::vector<Literal> vectors = {of({2}, {10, 20}), of({2}, {100, 200}), of({2}, {1, 2}),
                                        of({2}, {4, 16})};
  const auto with = [&](Literal a) {
    std::vector<Literal> operands{std::move(a)};
    operands.insert(operands.end(), vectors.begin(), vectors.end());
    return operands;
  };
  CHECK(one(op, with(of({1, 2, 2}, {3, 5, 6, 10}))) == of({1, 2, 2}, {110, 120, 220, 240}));
  op.axis = -1;
  CHECK(one(op, with(of({2, 2}, {3, 6, 5, 10}))) == of({2, 2}, {110, 220, 120, 240}));
}

} // namespace dfc
