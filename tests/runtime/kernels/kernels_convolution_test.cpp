// Convolutions on the cpu against plain double loops: every type, strides, padding, dilations, groups; our
// own against oneDNN's; packed filters; the same bits for any number of threads.
#include "runtime/cpu/kernels/windows/convolution.h"
#include "runtime/cpu/kernels/windows/own_convolution.h"
#include "tests/runtime/kernels/convolution_testing.h"
#include "tests/support/catch.h"

namespace dfc::testing {
namespace {

const std::vector<Case> cases = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}, {}, {}, {}, {}, 1},
    {{2, 3, 7, 8}, {4, 3, 3, 5}, {}, {}, {}, {}, 1},
    {{2, 3, 7, 8}, {4, 3, 3, 3}, {2, 3}, {1, 1}, {1, 0}, {}, 1},
    {{1, 2, 9, 7}, {3, 2, 2, 3}, {1, 2}, {2, 0}, {0, 3}, {2, 3}, 1},
    {{2, 6, 5, 5}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {}, 2},
    {{3, 5, 6, 4}, {10, 1, 3, 2}, {2, 1}, {1, 0}, {0, 1}, {}, 5},
    {{2, 20, 6, 6}, {35, 20, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},
    {{4, 3, 12, 12}, {16, 3, 5, 5}, {3, 3}, {4, 4}, {2, 2}, {}, 1}, // windows end before the image does
    {{1, 4, 1, 1}, {3, 4, 3, 3}, {}, {2, 2}, {2, 2}, {}, 1},
};

} // namespace

TEST_CASE("convolutions agree with plain loops for every float type") {
  for (const ElementType type : floatTypes) {
    for (const Case& c : cases) {
      checkConvolution(c, type, 2);
    }
  }
}

TEST_CASE("large convolutions, cut into parts, agree with plain loops") {
  checkConvolution({{5, 40, 17, 15}, {70, 40, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1}, ElementType::F32, 2);
  checkConvolution({{33, 3, 30, 28}, {24, 3, 5, 5}, {2, 2}, {2, 2}, {2, 2}, {}, 1}, ElementType::F32, 2);
  checkConvolution({{2, 64, 20, 20}, {64, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {}, 32}, ElementType::F32, 2);
  checkConvolution({{2, 12, 40, 40}, {140, 12, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1}, ElementType::F64, 2);
}

TEST_CASE("convolutions whose parts have their channels last agree with plain loops") {
  const std::vector<Case> manyFilters = {
      {{4, 24, 17, 15}, {100, 24, 3, 3}, {2, 1}, {1, 2}, {0, 1}, {2, 1}, 1},
      {{3, 70, 9, 9}, {64, 70, 1, 1}, {}, {}, {}, {}, 1},
      {{2, 3, 30, 30}, {64, 3, 7, 7}, {2, 2}, {3, 3}, {3, 3}, {}, 1},
      {{5, 33, 11, 7}, {49, 33, 2, 3}, {1, 3}, {0, 1}, {1, 2}, {}, 1},
      {{1, 16, 1, 200}, {48, 16, 1, 5}, {}, {0, 2}, {0, 2}, {}, 1},
  };
  for (const Case& c : manyFilters) {
    checkConvolution(c, ElementType::F32, 2);
  }
}

TEST_CASE("a convolution keeps a held filter packed until it is told of a change") {
  ThreadPool threads(2);
  const std::vector<Case> held = {{{3, 20, 14, 14}, {70, 20, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},
                                  {{5, 12, 9, 9}, {8, 12, 3, 3}, {2, 2}, {1, 1}, {0, 0}, {}, 1},
                                  {{2, 32, 12, 12}, {32, 1, 3, 3}, {}, {1, 1}, {1, 1}, {}, 32}};
  int keepers = 0;
  for (const Case& c : held) {
    const Convolution conv = convolution(c, ElementType::F32);
    const Triple first = operandsOf(conv, ElementType::F32);
    Triple second = first;
    second.filter = randomLiteral({ElementType::F32, conv.filter}, 94, -1, 1);
    for (const auto pass : {ConvolutionPass::Forward, ConvolutionPass::InputGradient}) {
      const bool forward = pass == ConvolutionPass::Forward;
      const auto plain = makeOnednnConvolution(pass, conv, threads);
      const auto keeping = makeOnednnConvolution(pass, conv, threads);
      INFO("image " << toString(c.image) << ", filter " << toString(c.filter));
      if (!keeping->hold({forward ? Held::No : Held::Yes, forward ? Held::Yes : Held::No})) {
        continue; // oneDNN takes the filter as it is
      }
      ++keepers;
      for (int run = 0; run < 2; ++run) {
        CHECK(runPass(*keeping, pass, conv, first) == runPass(*plain, pass, conv, first));
      }
      CHECK(runPass(*keeping, pass, conv, second) == runPass(*plain, pass, conv, first)); // the kept one
      keeping->heldChanged();
      CHECK(runPass(*keeping, pass, conv, second) == runPass(*plain, pass, conv, second));
    }
    CHECK(!makeOnednnConvolution(ConvolutionPass::Forward, conv, threads)->hold({Held::Yes, Held::No}));
    CHECK(
        !makeOnednnConvolution(ConvolutionPass::FilterGradient, conv, threads)->hold({Held::Yes, Held::Yes}));
  }
  CHECK(keepers > 0);
}

TEST_CASE("our own convolution and oneDNN's agree") {
  ThreadPool threads(2);
  for (const Case& c : cases) {
    const Convolution conv = convolution(c, ElementType::F32);
    const Triple given = operandsOf(conv, ElementType::F32);
    for (const auto pass :
         {ConvolutionPass::Forward, ConvolutionPass::InputGradient, ConvolutionPass::FilterGradient}) {
      const auto own = makeOwnConvolution(pass, conv, ElementType::F32, threads);
      const auto library = makeOnednnConvolution(pass, conv, threads);
      INFO("image " << toString(c.image) << ", filter " << toString(c.filter));
      REQUIRE(library != nullptr);
      const Expected expected = expectedOf(pass, conv, given);
      checkSums(runPass(*own, pass, conv, given), expected, 0); // carried in f64, rounded once
      checkSums(runPass(*library, pass, conv, given), expected,
                double(std::max(conv.terms(), conv.batch() * conv.pixels())));
    }
  }
}

TEST_CASE("our own convolution computes long rows in blocks") {
  // Spread out, a block has room for 2^17 numbers: 13107 columns of 10 terms, 7281 of 18; 3276 results of 40
  // filters.
  const std::vector<Case> longRows = {
      {{1, 2, 1, 30000}, {3, 2, 1, 5}, {}, {}, {}, {}, 1},
      {{2, 3, 2, 21000}, {2, 3, 2, 3}, {1, 2}, {0, 4}, {1, 3}, {1, 3}, 1},
      {{1, 2, 1, 45000}, {80, 1, 1, 3}, {}, {0, 1}, {0, 1}, {}, 2},
  };
  ThreadPool one(1), four(4);
  for (const Case& c : longRows) {
    for (const ElementType type : {ElementType::F32, ElementType::F64}) {
      const Convolution conv = convolution(c, type);
      const Triple given = operandsOf(conv, type);
      for (const auto pass :
           {ConvolutionPass::Forward, ConvolutionPass::InputGradient, ConvolutionPass::FilterGradient}) {
        INFO("image " << toString(c.image) << ", filter " << toString(c.filter));
        const Literal result = runPass(*makeOwnConvolution(pass, conv, type, one), pass, conv, given);
        checkSums(result, expectedOf(pass, conv, given), double(conv.batch() * conv.pixels()));
        CHECK(runPass(*makeOwnConvolution(pass, conv, type, four), pass, conv, given) == result);
      }
    }
  }
}

TEST_CASE("where a long row is cut, its results have the bits that they have in a short one") {
  constexpr int64_t length = 30000, from = 12000, some = 4000; // the first block ends at 13107
  const ElementType type = ElementType::F64;
  const Convolution conv = convolution({{1, 2, 1, length}, {3, 2, 1, 5}, {}, {}, {}, {}, 1}, type);
  const Convolution part = convolution({{1, 2, 1, some + 4}, {3, 2, 1, 5}, {}, {}, {}, {}, 1}, type);
  const Triple given = operandsOf(conv, type);
  Triple shorter = operandsOf(part, type);
  for (int64_t i = 0; i < part.image.elements(); ++i) {
    shorter.image.set(i, given.image.at(i / (some + 4) * length + from + i % (some + 4)));
  }
  ThreadPool pool(1);
  const ConvolutionPass pass = ConvolutionPass::Forward;
  const Literal whole = runPass(*makeOwnConvolution(pass, conv, type, pool), pass, conv, given);
  const Literal few = runPass(*makeOwnConvolution(pass, part, type, pool), pass, part, shorter);
  bool same = true;
  for (int64_t i = 0; i < part.result.elements(); ++i) {
    same = same && few.at(i) == whole.at(i / some * (length - 4) + from + i % some);
  }
  CHECK(same);
}

TEST_CASE("convolutions without images, channels or filters give nothing or zeros") {
  for (const ElementType type : floatTypes) {
    const auto zeros = [&](Shape shape) { return Literal(TensorType{type, shape}); };
    CHECK(runKernel(ops::Conv2d{}, {zeros({0, 3, 4, 4}), zeros({2, 3, 3, 3})}).bytes().empty());
    CHECK(runKernel(ops::Conv2d{}, {zeros({2, 3, 4, 4}), zeros({0, 3, 3, 3})}).bytes().empty());
    CHECK(runKernel(ops::Conv2d{}, {zeros({2, 0, 4, 4}), zeros({2, 0, 3, 3})}) == zeros({2, 2, 2, 2}));
    ops::Conv2dFilterGradient toFilter;
    toFilter.shape = {2, 3, 3, 3};
    CHECK(runKernel(toFilter, {zeros({0, 3, 4, 4}), zeros({0, 2, 2, 2})}) == zeros({2, 3, 3, 3}));
  }
}

TEST_CASE("convolutions give the same bits with one thread and with three") {
  const Case c{{9, 32, 20, 20}, {48, 32, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1};
  for (const ElementType type : floatTypes) {
    const Triple given = operandsOf(convolution(c, type), type);
    const ops::Conv2d op = opOf(c);
    auto toInput = sameConvolution<ops::Conv2dInputGradient>(op);
    toInput.shape = dimsOf(c.image);
    auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(op);
    toFilter.shape = dimsOf(c.filter);
    INFO(name(type));
    CHECK(runKernel(op, {given.image, given.filter}, 1) == runKernel(op, {given.image, given.filter}, 3));
    CHECK(runKernel(toInput, {given.filter, given.cotangent}, 1) ==
          runKernel(toInput, {given.filter, given.cotangent}, 3));
    CHECK(runKernel(toFilter, {given.image, given.cotangent}, 1) ==
          runKernel(toFilter, {given.image, given.cotangent}, 3));
  }
}

} // namespace dfc::testing
