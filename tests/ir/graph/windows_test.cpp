// The type rules of convolutions, pools and batch normalisations: shapes, prices, and refusals to the letter.
#include "ir/graph/rules/windows.h"

#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/convolution.h"
#include "tests/support/catch.h"

#include <limits>

using namespace dfc;

namespace {

using Types = std::vector<TensorType>;

std::string errorOf(const OpAttributes& attributes, const Types& operands) {
  const TypeResult result = resultTypes(attributes, operands);
  CHECK(result.ok() == result.hint.empty());
  return result.error;
}

Shape shapeOf(const OpAttributes& attributes, const Types& operands) {
  const TypeResult result = resultTypes(attributes, operands);
  INFO(result.error);
  REQUIRE(result.ok());
  return result.types.front().shape;
}

ops::Conv2d conv(Dims strides = {}, Dims low = {}, Dims high = {}, Dims dilations = {}, int64_t groups = 1) {
  ops::Conv2d op;
  op.strides = std::move(strides);
  op.low = std::move(low);
  op.high = std::move(high);
  op.dilations = std::move(dilations);
  op.groups = groups;
  return op;
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

constexpr int64_t huge = std::numeric_limits<int64_t>::max();

// The counted windows and places of an axis, by looking at every one.
void checkRanges(const WindowAxis& axis) {
  for (int64_t k = 0; k < axis.size; ++k) {
    const WindowAxis::Range range = axis.windowsAt(k);
    for (int64_t window = 0; window < axis.count; ++window) {
      const int64_t at = axis.at(window, k);
      CHECK((window >= range.begin && window < range.end) == (at >= 0 && at < axis.length));
      const WindowAxis::Range places = axis.placesOf(window);
      CHECK((k >= places.begin && k < places.end) == (at >= 0 && at < axis.length));
    }
  }
}

} // namespace

TEST_CASE("windows: how many fit, and which of their places are padding") {
  for (int64_t length = 0; length < 7; ++length) {
    for (uint32_t code = 0; code < 3 * 3 * 3 * 3 * 2; ++code) {
      const int64_t size = 1 + code % 3, stride = 1 + code / 3 % 3, low = code / 9 % 3, high = code / 27 % 3,
                    dilation = 1 + code / 81;
      const WindowAttributes attributes{{size, 1}, {stride, 1}, {low, 0}, {high, 0}, {dilation, 1}};
      const Shape image{1, 1, length, 1};
      int64_t count = 0; // by sliding
      for (int64_t start = -low; start + (size - 1) * dilation < length + high; start += stride) {
        ++count;
      }
      const TypeResult checked = checkWindows(OpKind::MaxPool, {f32(image)}, image, attributes);
      CHECK(checked.ok() == (count > 0));
      if (checked.ok()) {
        const Windows windows = windowsOf(image, attributes);
        CHECK(windows.rows.count == count);
        checkRanges(windows.rows);
      }
    }
  }
}

TEST_CASE("windows: one that holds padding only is found wherever it lies") {
  for (int64_t length = 0; length < 6; ++length) {
    for (uint32_t code = 0; code < 3 * 3 * 5 * 5 * 2; ++code) {
      const int64_t size = 1 + code % 3, stride = 1 + code / 3 % 3, low = code / 9 % 5, high = code / 45 % 5,
                    dilation = 1 + code / 225;
      const WindowAttributes attributes{{size, 1}, {stride, 1}, {low, 0}, {high, 0}, {dilation, 1}};
      const Shape image{1, 1, length, 1};
      if (!checkWindows(OpKind::MaxPool, {f32(image)}, image, attributes).ok()) {
        continue;
      }
      const Windows windows = windowsOf(image, attributes);
      bool empty = false;
      for (int64_t window = 0; window < windows.rows.count; ++window) {
        bool any = false;
        for (int64_t k = 0; k < size; ++k) {
          const int64_t at = windows.rows.at(window, k);
          any = any || (at >= 0 && at < length);
        }
        empty = empty || !any;
      }
      const bool refused = !checkNoPaddingOnly(OpKind::MaxPool, {f32(image)}, windows).ok();
      INFO("length " << length << ", size " << size << ", stride " << stride << ", low " << low << ", high "
                     << high << ", dilation " << dilation);
      // A dilation beyond the length is refused along with what it may lead to.
      CHECK((refused == empty || (refused && size > 1 && dilation > length)));
    }
  }
}

TEST_CASE("type rules: conv2d's result") {
  const Types plain = {f32({2, 3, 7, 8}), f32({4, 3, 3, 5})};
  CHECK(shapeOf(conv(), plain) == Shape{2, 4, 5, 4});
  CHECK(shapeOf(conv({2, 3}, {1, 0}, {2, 4}), plain) == Shape{2, 4, 4, 3}); // (10-3)/2+1, (12-5)/3+1
  CHECK(shapeOf(conv({}, {}, {4, 4}, {5, 2}), plain) == Shape{2, 4, 1, 4}); // 11-11+1, 12-9+1
  CHECK(shapeOf(conv({}, {}, {}, {}, 2), {f32({1, 4, 3, 3}), f32({6, 2, 1, 1})}) == Shape{1, 6, 3, 3});
  CHECK(shapeOf(conv(), {f32({0, 3, 7, 8}), f32({4, 3, 3, 5})}) == Shape{0, 4, 5, 4});
  CHECK(shapeOf(conv(), {f32({2, 0, 7, 8}), f32({4, 0, 3, 5})}) == Shape{2, 4, 5, 4});
  CHECK(shapeOf(conv({}, {3, 0}), {f32({1, 1, 0, 1}), f32({1, 1, 3, 1})}) == Shape{1, 1, 1, 1});
  for (const ElementType element : {ElementType::F64, ElementType::F16, ElementType::BF16}) {
    const TypeResult result = resultTypes(conv(), Types{{element, {1, 1, 2, 2}}, {element, {1, 1, 2, 2}}});
    CHECK(result.types[0] == TensorType{element, {1, 1, 1, 1}});
  }
}

TEST_CASE("type rules: what conv2d refuses, and why") {
  const TensorType a = f32({2, 4, 7, 8}), filter = f32({6, 4, 3, 5});
  const std::string call = "conv2d of f32[2, 4, 7, 8] and f32[6, 4, 3, 5]: ";
  CHECK(errorOf(conv({2}), {a, filter}) == call + "strides has 1 numbers");
  CHECK(errorOf(conv({1, 0}), {a, filter}) == call + "strides is 0 for axis 3 (columns)");
  CHECK(errorOf(conv({}, {-1, 0}), {a, filter}) == call + "low is -1 for axis 2 (rows)");
  CHECK(errorOf(conv({}, {}, {0, huge}), {a, filter}) ==
        call + "high is 9223372036854775807 for axis 3 (columns)");
  CHECK(errorOf(conv({}, {}, {}, {1, 0}), {a, filter}) == call + "dilations is 0 for axis 3 (columns)");
  CHECK(errorOf(conv({}, {}, {}, {4, 1}), {a, filter}) ==
        call + "a window spans 9 elements of axis 2 (rows), which has 7 with its padding");
  CHECK(errorOf(conv({}, {}, {}, {}, 4), {a, filter}) == call + "4 groups share 4 channels and 6 filters");
  CHECK(errorOf(conv({}, {}, {}, {}, 0), {a, filter}) == call + "0 groups share 4 channels and 6 filters");
  CHECK(errorOf(conv({}, {}, {}, {}, 2), {a, filter}) ==
        call + "the filter [6, 4, 3, 5] reads 4 channels, but a group of [2, 4, 7, 8] has 2");
  CHECK(errorOf(conv(), {a, f32({6, 4, 0, 5})}) == "conv2d of f32[2, 4, 7, 8] and f32[6, 4, 0, 5]: "
                                                   "the window's size is 0 for axis 2 (rows)");
  CHECK(errorOf(conv(), {f32({4, 7, 8}), filter}) == "conv2d of f32[4, 7, 8] and f32[6, 4, 3, 5]: "
                                                     "conv2d slides over [N, C, H, W], four axes");
  CHECK(errorOf(conv(), {a, f32({6, 4, 3})}) ==
        "conv2d of f32[2, 4, 7, 8] and f32[6, 4, 3]: a filter is [M, C / groups, KH, KW], four axes");
  CHECK(errorOf(conv(), {i32({2, 4, 7, 8}), i32({6, 4, 3, 5})}) ==
        "conv2d of i32[2, 4, 7, 8] and i32[6, 4, 3, 5]: conv2d takes f32, f64, f16 or bf16");
  CHECK(errorOf(conv({}, {1 << 30, 1 << 30}, {1 << 30, 1 << 30}), {f32({2, 4, 7, 8}), f32({64, 4, 3, 5})}) ==
        "conv2d of f32[2, 4, 7, 8] and f32[64, 4, 3, 5]: no tensor may have the shape of the result");
}

TEST_CASE("type rules: the gradients of conv2d want the shapes of their conv2d") {
  const auto forward = conv({2, 1}, {1, 0});
  auto toInput = sameConvolution<ops::Conv2dInputGradient>(forward);
  auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(forward);
  const TensorType a = f32({2, 4, 7, 8}), filter = f32({6, 4, 3, 5}), cotangent = f32({2, 6, 3, 4});
  CHECK(shapeOf(forward, {a, filter}) == cotangent.shape);
  toInput.shape = {2, 4, 7, 8};
  toFilter.shape = {6, 4, 3, 5};
  CHECK(shapeOf(toInput, {filter, cotangent}) == a.shape);
  CHECK(shapeOf(toFilter, {a, cotangent}) == filter.shape);
  CHECK(errorOf(toInput, {filter, f32({2, 6, 4, 4})}) ==
        "conv2dInputGradient of f32[6, 4, 3, 5] and f32[2, 6, 4, 4]: conv2d of [2, 4, 7, 8] with "
        "[6, 4, 3, 5] gives [2, 6, 3, 4], not [2, 6, 4, 4]");
  toInput.shape = {2, 4, 6, 8}; // another image with as many windows
  CHECK(shapeOf(toInput, {filter, cotangent}) == Shape{2, 4, 6, 8});
  toInput.shape = {2, 4, 7};
  CHECK(
      errorOf(toInput, {filter, cotangent}) ==
      "conv2dInputGradient of f32[6, 4, 3, 5] and f32[2, 6, 3, 4]: shape=[2, 4, 7] is no shape of four axes");
  toFilter.shape = {6, 4, -3, 5};
  CHECK_FALSE(errorOf(toFilter, {a, cotangent}).empty());
  toFilter.shape = {6, 4, huge, huge};
  CHECK_FALSE(errorOf(toFilter, {a, cotangent}).empty());
}

TEST_CASE("type rules: pools, and windows of padding only") {
  CHECK(shapeOf(pool<ops::MaxPool>({2, 3}, {2, 2}), {f32({2, 3, 7, 8})}) == Shape{2, 3, 3, 3});
  CHECK(shapeOf(pool<ops::MaxPool>({2, 2}), {i64({1, 1, 2, 2})}) == Shape{1, 1, 1, 1});
  CHECK(shapeOf(pool<ops::AveragePool>({3, 3}, {1, 1}, {1, 1}, {1, 1}), {f64({1, 2, 4, 5})}) ==
        Shape{1, 2, 4, 5});
  CHECK(errorOf(pool<ops::MaxPool>({2, 2}, {}, {2, 0}), {f32({1, 1, 4, 4})}) ==
        "maxPool of f32[1, 1, 4, 4]: window 0 of axis 2 (rows) holds padding only");
  CHECK(errorOf(pool<ops::AveragePool>({2, 2}, {}, {}, {0, 2}), {f32({1, 1, 4, 4})}) ==
        "averagePool of f32[1, 1, 4, 4]: window 4 of axis 3 (columns) holds padding only");
  auto counted = pool<ops::AveragePool>({2, 2}, {}, {}, {0, 2});
  counted.countPadding = true; // then its mean is zero
  CHECK(shapeOf(counted, {f32({1, 1, 4, 4})}) == Shape{1, 1, 3, 5});
  auto dilated = pool<ops::MaxPool>({2, 2}, {}, {2, 0}, {2, 0});
  dilated.dilations = {3, 1};
  CHECK(errorOf(dilated, {f32({1, 1, 2, 4})}) ==
        "maxPool of f32[1, 1, 2, 4]: a dilation of 3 steps over axis 2 (rows), which has 2 elements");
  CHECK(errorOf(pool<ops::MaxPool>({}), {f32({1, 1, 4, 4})}) ==
        "maxPool of f32[1, 1, 4, 4]: the window's size has 0 numbers");
  CHECK(errorOf(pool<ops::MaxPool>({huge, 1}), {f32({1, 1, 4, 4})}) ==
        "maxPool of f32[1, 1, 4, 4]: the window's size is 9223372036854775807 for axis 2 (rows)");
  CHECK(errorOf(pool<ops::AveragePool>({2, 2}), {i32({1, 1, 4, 4})}) ==
        "averagePool of i32[1, 1, 4, 4]: averagePool takes f32, f64, f16 or bf16");
  CHECK_FALSE(errorOf(pool<ops::MaxPool>({1, 1}), {{ElementType::Bool, {1, 1, 4, 4}}}).empty());
  CHECK(shapeOf(pool<ops::MaxPoolGradient>({2, 2}), {f32({1, 1, 4, 4}), f32({1, 1, 3, 3})}) ==
        Shape{1, 1, 4, 4});
  CHECK(errorOf(pool<ops::MaxPoolGradient>({2, 2}), {f32({1, 1, 4, 4}), f32({1, 1, 4, 4})}) ==
        "maxPoolGradient of f32[1, 1, 4, 4] and f32[1, 1, 4, 4]: maxPool of f32[1, 1, 4, 4] gives "
        "f32[1, 1, 3, 3]");
  auto average = pool<ops::AveragePoolGradient>({2, 2});
  average.shape = {1, 1, 4, 4};
  CHECK(shapeOf(average, {f32({1, 1, 3, 3})}) == Shape{1, 1, 4, 4});
  CHECK(errorOf(average, {f32({1, 1, 4, 4})}) ==
        "averagePoolGradient of f32[1, 1, 4, 4]: averagePool of [1, 1, 4, 4] gives [1, 1, 3, 3]");
}

TEST_CASE("type rules: batch normalisation") {
  ops::BatchNorm op;
  const TensorType a = f32({2, 3, 4}), vector = f32({3});
  const Types good = {a, vector, vector, vector, vector};
  CHECK(shapeOf(op, good) == a.shape);
  op.axis = -2;
  CHECK(shapeOf(op, good) == a.shape);
  op.axis = 2;
  CHECK(errorOf(op, good) == "batchNorm of f32[2, 3, 4], f32[3], f32[3], f32[3] and f32[3]: axis 2 has 4 "
                             "channels, but operand 1 is [3]");
  op.axis = 3;
  CHECK_FALSE(errorOf(op, good).empty());
  op.axis = 1;
  for (const double epsilon :
       {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    op.epsilon = epsilon;
    CHECK_FALSE(errorOf(op, good).empty());
  }
  ops::BatchNormTraining training;
  const TypeResult three = resultTypes(training, Types{a, vector, vector});
  CHECK(three.types == llvm::SmallVector<TensorType, 1>{a, vector, vector});
  CHECK(errorOf(training, {f32({0, 3}), vector, vector}) ==
        "batchNormTraining of f32[0, 3], f32[3] and f32[3]: a channel without elements has no mean");
  CHECK(shapeOf(training, {f32({0, 0}), f32({0}), f32({0})}) == Shape{0, 0});
  ops::BatchNormGradient gradient;
  CHECK(resultTypes(gradient, Types{a, vector, vector, vector, a}).types.size() == 3);
  CHECK_FALSE(errorOf(gradient, {a, vector, vector, vector, vector}).empty());
}

TEST_CASE("prices: windows are paid by the element that they look at") {
  const auto price = [](const OpAttributes& attributes, const Types& operands) {
    return costOf(attributes, operands, resultTypes(attributes, operands).types);
  };
  // 2 x 4 x 5 x 4 elements of 3 x 3 x 5 terms.
  const OpCost cost = price(conv(), {f32({2, 3, 7, 8}), f32({4, 3, 3, 5})});
  CHECK(cost.flops == 2.0 * 45 * 160);
  CHECK(cost.bytes == 4.0 * (2 * 3 * 7 * 8 + 4 * 3 * 3 * 5 + 160));
  auto toInput = sameConvolution<ops::Conv2dInputGradient>(conv());
  toInput.shape = {2, 3, 7, 8};
  const OpCost ofInput = price(toInput, {f32({4, 3, 3, 5}), f32({2, 4, 5, 4})});
  CHECK(ofInput.flops == cost.flops);
  auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(conv());
  toFilter.shape = {4, 3, 3, 5};
  const OpCost ofFilter = price(toFilter, {f32({2, 3, 7, 8}), f32({2, 4, 5, 4})});
  CHECK(ofFilter.flops == cost.flops);
  // As matrix products: windows of 3 x 5 over 3 channels, or over 4 filters; 2 images of 5 x 4 windows.
  const auto extents = [](const ProductShape& product) {
    return std::array{product.rows, product.columns, product.inner, product.count};
  };
  CHECK(extents(cost.product) == std::array{2.0 * 5 * 4, 4.0, 3.0 * 3 * 5, 1.0});
  CHECK(extents(ofInput.product) == std::array{2.0 * 7 * 8, 3.0, 4.0 * 3 * 5, 1.0});
  CHECK(extents(ofFilter.product) == std::array{4.0, 3.0 * 3 * 5, 2.0 * 5 * 4, 1.0});
  CHECK(price(pool<ops::MaxPool>({2, 3}), {f32({1, 1, 3, 4})}).flops == 6.0 * 4);
  CHECK(price(pool<ops::AveragePool>({2, 3}), {f32({1, 1, 3, 4})}).flops == (6.0 + divFlops) * 4);
}

TEST_CASE("gradients: of a maxPool's gradient through a window of very many elements is refused") {
  Builder g;
  const Tensor x = g.parameter("x", f64({1, 1, 20, 20}));
  const Tensor first = gradients(reduceSum(exp(maxPool(x, {17, 17}))), {x})[0];
  CHECK(g.graph().errors().empty());
  (void)gradients(reduceSum(first), {x});
  REQUIRE(g.graph().errors().size() == 1);
  CHECK(g.graph().errors()[0].message.find("has no gradient for") != std::string::npos);
}
