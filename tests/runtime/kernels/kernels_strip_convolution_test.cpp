// Convolutions of images with their channels last against the kernels for channels first in f64, in both
// orders of filters; held filters; fusedConv2d against its two halves, bit for bit.
#include "ir/graph/rules/layout.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"
#include "tests/support/typed_body.h"

#include <cmath>

namespace dfc::testing {
namespace {

struct StripCase {
  Shape image, filter; ///< with their channels first
  Dims strides, low, high, dilations;
  int64_t groups = 1;
};

const std::vector<StripCase> stripCases = {
    {{1, 3, 40, 38}, {32, 3, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {}, 1},   // strips of rows
    {{1, 64, 31, 17}, {96, 64, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},     // a last strip of fewer rows
    {{1, 256, 7, 7}, {512, 256, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},    // few pixels, filters in parts
    {{9, 24, 7, 6}, {40, 24, 2, 3}, {1, 2}, {1, 0}, {0, 2}, {}, 1},   // several images a part
    {{3, 96, 30, 30}, {96, 1, 3, 3}, {}, {1, 1}, {1, 1}, {}, 96},     // depthwise
    {{2, 48, 25, 21}, {48, 1, 5, 5}, {2, 2}, {2, 2}, {2, 2}, {}, 48}, // with strides
    {{2, 64, 20, 20}, {128, 16, 3, 3}, {}, {1, 1}, {1, 1}, {}, 4},    // groups
    {{2, 16, 33, 33}, {16, 16, 3, 3}, {}, {2, 2}, {2, 2}, {2, 2}, 1}, // dilation
    {{1, 8, 12, 12}, {8, 8, 3, 3}, {}, {9, 9}, {9, 9}, {}, 1},        // windows of padding alone
    {{1, 2, 5, 5}, {3, 2, 2, 2}, {}, {}, {}, {}, 1},
    {{4, 3, 12, 12}, {16, 3, 5, 5}, {3, 3}, {4, 4}, {0, 0}, {}, 1}, // windows end before the images do
    {{2, 40, 9, 9}, {24, 40, 1, 1}, {2, 2}, {0, 0}, {0, 0}, {}, 1},
};

Literal transposed(const Literal& value, const std::array<int64_t, 4>& axes) {
  ops::Transpose op;
  op.permutation.assign(axes.begin(), axes.end());
  return runKernel(op, {value});
}

Literal widened(const Literal& value) {
  ops::Cast op;
  op.to = ElementType::F64;
  return runKernel(op, {value});
}

struct StripCall {
  ops::Conv2d op;
  Literal image, filter; ///< in the op's layout
};

StripCall stripCallOf(const StripCase& c, ElementType type, ImageLayout layout) {
  ops::Conv2d op;
  op.strides = c.strides;
  op.low = c.low;
  op.high = c.high;
  op.dilations = c.dilations;
  op.groups = c.groups;
  op.layout = layout;
  const Literal image = randomLiteral({type, c.image}, 71, -1, 1),
                filter = randomLiteral({type, c.filter}, 72, -1, 1);
  return {op, layout == ImageLayout::Nchw ? image : transposed(image, toChannelsLast),
          layout == ImageLayout::Nhwc ? transposed(filter, toChannelsLast) : filter};
}

void checkStripLayout(const StripCase& c, ElementType type, ImageLayout layout) {
  INFO(name(type) << ", image " << toString(c.image) << ", filter " << toString(c.filter) << ", layout "
                  << layoutNames[static_cast<size_t>(layout)]);
  const StripCall call = stripCallOf(c, type, layout), first = stripCallOf(c, type, ImageLayout::Nchw);
  const Literal expected = runKernel(first.op, {widened(first.image), widened(first.filter)});
  const Literal got = runKernel(call.op, {call.image, call.filter});
  // Terms of up to 1, each rounded, and the result.
  const double terms = static_cast<double>(c.filter[1] * c.filter[2] * c.filter[3]);
  const Literal inFirst = transposed(got, toChannelsFirst);
  checkElements(
      inFirst, [&](int64_t i) { return expected.at(i); }, 2, terms * 0x1p-23 * std::sqrt(terms));
  CHECK(runKernel(call.op, {call.image, call.filter}, 3) == got);
}

ops::FusedConv2d fusedWith(const ops::Conv2d& convolution, const std::string& body, ElementType type) {
  auto op = test::withBody<ops::FusedConv2d>(body, type);
  static_cast<ops::Conv2d&>(op) = convolution;
  return op;
}

// A bias and an activation; a sum of images; the convolution read twice; a comparison.
const std::vector<std::string> stripBodies = {"add:T %0 %1; relu:T %3", "add:T %0 %1; add:T %3 %2",
                                              "mul:T %0 %0; max:T %3 %2; add:T %4 %1",
                                              "add:T %1 %2; compare.gt:bool %0 %3"};

void checkStripBodies(const StripCase& c, ElementType type, ImageLayout layout) {
  const StripCall call = stripCallOf(c, type, layout);
  const Literal convolved = runKernel(call.op, {call.image, call.filter});
  const Shape& shape = convolved.type().shape;
  const bool last = layout != ImageLayout::Nchw;
  const Literal channels = randomLiteral({type, last ? Shape{shape[3]} : Shape{shape[1], 1, 1}}, 73, -1, 1);
  const Literal whole = randomLiteral({type, shape}, 74, -1, 1);
  for (const std::string& body : stripBodies) {
    INFO(body << " of " << name(type) << ", image " << toString(c.image) << ", filter "
              << toString(c.filter));
    const ops::FusedConv2d op = fusedWith(call.op, body, type);
    const Literal expected = runKernel(op.epilogue(), {convolved, channels, whole});
    const std::vector<Literal> operands = {call.image, call.filter, channels, whole};
    CHECK(runKernel(op, operands) == expected);
    CHECK(runKernel(op, operands, 3) == expected);
    if (expected.type() == whole.type()) {
      CHECK(runKernelInPlace(op, operands, 3, 3) == expected); // the result over the last operand
    }
  }
}

} // namespace

TEST_CASE("convolutions of channels that are last agree with those of channels that are first") {
  for (const StripCase& c : stripCases) {
    checkStripLayout(c, ElementType::F32, ImageLayout::Nhwc);
    checkStripLayout(c, ElementType::F32, ImageLayout::NhwcOihw);
  }
  checkStripLayout(stripCases[3], ElementType::F64, ImageLayout::NhwcOihw);
}

TEST_CASE("fusedConv2d gives the bits of its conv2d and its body, in place too") {
  for (const StripCase& c : stripCases) {
    checkStripBodies(c, ElementType::F32, ImageLayout::NhwcOihw);
  }
  checkStripBodies(stripCases[3], ElementType::F32, ImageLayout::Nchw);
  for (const ElementType type : {ElementType::F64, ElementType::F16, ElementType::BF16}) {
    checkStripBodies(stripCases[3], type, ImageLayout::NhwcOihw);
  }
}

TEST_CASE("a fusedConv2d keeps its held filter packed until it changes") {
  const StripCase& c = stripCases[1];
  const StripCall call = stripCallOf(c, ElementType::F32, ImageLayout::NhwcOihw);
  const ops::FusedConv2d op = fusedWith(call.op, "relu:T %0", ElementType::F32);
  const Literal other = randomLiteral(call.filter.type(), 75, -1, 1);
  const TensorType types[2] = {call.image.type(), call.filter.type()};
  const TensorType made = resultTypes(op, types).types[0];
  ThreadPool pool(2);
  const auto kernel = makeCpuKernel(op, types, made, pool);
  REQUIRE(kernel->hold({Held::No, Held::Yes}));
  Literal filter = call.filter, result(made);
  const std::byte* operands[] = {call.image.bytes().data(), filter.mutableBytes().data()};
  std::byte* results[] = {result.mutableBytes().data()};
  for (const Literal* now : {&call.filter, &other, &call.filter}) {
    for (int64_t i = 0; i < filter.type().shape.elements(); ++i) {
      filter.set(i, now->at(i));
    }
    kernel->heldChanged();
    for (int run = 0; run < 2; ++run) {
      kernel->run(operands, results);
      CHECK(result == runKernel(op, {call.image, *now}));
    }
  }
}

TEST_CASE("input gradients with channels last agree with those with channels first") {
  std::vector<StripCase> cases = stripCases;
  cases.push_back({{1, 16, 96, 96}, {32, 16, 2, 2}, {2, 2}, {}, {}, {}, 1}); // windows that do not overlap
  cases.push_back({{1, 24, 63, 40}, {40, 24, 4, 4}, {2, 2}, {1, 1}, {1, 1}, {}, 1}); // that do; odd rows
  for (const StripCase& c : cases) {
    for (const ImageLayout layout : {ImageLayout::Nhwc, ImageLayout::NhwcOihw}) {
      INFO("image " << toString(c.image) << ", filter " << toString(c.filter) << ", layout "
                    << layoutNames[static_cast<size_t>(layout)]);
      const StripCall call = stripCallOf(c, ElementType::F32, layout);
      const StripCall first = stripCallOf(c, ElementType::F32, ImageLayout::Nchw);
      const TensorType types[2] = {first.image.type(), first.filter.type()};
      const Literal cotangent = randomLiteral(resultTypes(first.op, types).types[0], 76, -1, 1);
      ops::Conv2dInputGradient op;
      op.strides = c.strides;
      op.low = c.low;
      op.high = c.high;
      op.dilations = c.dilations;
      op.groups = c.groups;
      const auto shaped = [&](const Shape& shape) {
        op.shape.assign(shape.dims().begin(), shape.dims().end());
      };
      shaped(c.image);
      const Literal expected = runKernel(op, {widened(first.filter), widened(cotangent)});
      op.layout = layout;
      shaped(channelsLast(c.image));
      const Literal got = runKernel(op, {call.filter, transposed(cotangent, toChannelsLast)});
      CHECK(runKernel(op, {call.filter, transposed(cotangent, toChannelsLast)}, 3) == got);
      const double terms = static_cast<double>(c.filter[0] / c.groups * c.filter[2] * c.filter[3]);
      const Literal inFirst = transposed(got, toChannelsFirst);
      checkElements(
          inFirst, [&](int64_t i) { return expected.at(i); }, 2, terms * 0x1p-23 * std::sqrt(terms));
    }
  }
}

TEST_CASE("an input gradient keeps its held filter packed until it changes") {
  const StripCase c{{1, 16, 96, 96}, {32, 16, 2, 2}, {2, 2}, {}, {}, {}, 1};
  ops::Conv2dInputGradient op;
  op.strides = c.strides;
  op.layout = ImageLayout::NhwcOihw;
  op.shape = {1, 96, 96, 16};
  const Literal cotangent = randomLiteral({ElementType::F32, {1, 48, 48, 32}}, 77, -1, 1);
  const TensorType types[2] = {{ElementType::F32, c.filter}, cotangent.type()};
  Literal result(resultTypes(op, types).types[0]);
  ThreadPool pool(2);
  const auto kernel = makeCpuKernel(op, types, result.type(), pool);
  REQUIRE(kernel->hold({Held::Yes, Held::No}));
  std::byte* results[] = {result.mutableBytes().data()};
  for (const uint32_t seed : {78U, 79U}) {
    const Literal filter = randomLiteral(types[0], seed, -1, 1);
    const std::byte* operands[] = {filter.bytes().data(), cotangent.bytes().data()};
    kernel->heldChanged();
    for (int run = 0; run < 2; ++run) {
      kernel->run(operands, results);
      CHECK(result == runKernel(op, {filter, cotangent}));
    }
  }
}

} // namespace dfc::testing
