// Convolutions of groups with few channels, and their gradients, against plain double loops: strides,
// padding, dilations, one or more channels and filters a group, bands of rows, pieces of a filter gradient;
// which kernel the ops use; the same bits for any number of threads.
#include "runtime/cpu/kernels/windows/group_convolution.h"
#include "tests/runtime/kernels/convolution_testing.h"
#include "tests/support/catch.h"

namespace dfc::testing {
namespace {

constexpr ConvolutionPass passes[] = {ConvolutionPass::Forward, ConvolutionPass::InputGradient,
                                      ConvolutionPass::FilterGradient};

const std::vector<Case> groupCases = {
    {{2, 3, 9, 9}, {3, 1, 5, 5}, {}, {2, 2}, {2, 2}, {}, 3},
    {{3, 20, 8, 8}, {20, 1, 3, 3}, {}, {1, 1}, {1, 1}, {}, 20},
    {{2, 5, 6, 7}, {5, 1, 2, 4}, {}, {}, {}, {}, 5},
    {{2, 4, 17, 15}, {4, 1, 5, 3}, {2, 2}, {2, 1}, {2, 1}, {}, 4},
    {{1, 4, 16, 16}, {4, 1, 3, 3}, {2, 3}, {1, 0}, {0, 1}, {}, 4},
    {{1, 4, 11, 13}, {4, 1, 2, 1}, {3, 2}, {}, {}, {}, 4}, // phases that no window reads
    {{2, 3, 12, 12}, {3, 1, 3, 3}, {}, {2, 2}, {2, 2}, {2, 2}, 3},
    {{1, 3, 14, 20}, {3, 1, 3, 2}, {2, 1}, {3, 4}, {1, 0}, {3, 5}, 3},
    {{1, 2, 7, 7}, {2, 1, 7, 7}, {}, {3, 3}, {3, 3}, {}, 2},
    {{2, 2, 7, 7}, {2, 1, 7, 7}, {}, {}, {}, {}, 2},             // one result
    {{1, 2, 10, 10}, {2, 1, 3, 3}, {4, 4}, {}, {}, {}, 2},       // windows end before the image does
    {{1, 2, 5, 5}, {2, 1, 3, 3}, {2, 2}, {6, 5}, {7, 6}, {}, 2}, // windows of padding alone
    {{2, 3, 1, 70}, {3, 1, 1, 31}, {}, {0, 15}, {0, 15}, {}, 3},
    {{2, 3, 70, 1}, {3, 1, 31, 1}, {}, {15, 0}, {15, 0}, {}, 3},
    {{2, 3, 6, 6}, {6, 1, 3, 3}, {}, {1, 1}, {1, 1}, {}, 3},
    {{2, 3, 6, 5}, {15, 1, 3, 2}, {2, 1}, {1, 1}, {1, 1}, {}, 3},
    {{2, 8, 7, 9}, {8, 4, 3, 3}, {}, {1, 1}, {1, 1}, {}, 2},
    {{2, 14, 9, 8}, {6, 7, 3, 3}, {2, 2}, {1, 1}, {0, 1}, {}, 2},
    {{3, 6, 5, 5}, {22, 3, 1, 1}, {}, {}, {}, {}, 2},
    {{2, 30, 6, 6}, {20, 15, 3, 3}, {}, {1, 1}, {1, 1}, {1, 2}, 2},
    {{1, 2, 300, 120}, {2, 1, 3, 3}, {}, {1, 1}, {1, 1}, {}, 2}, // bands of rows
    {{1, 2, 300, 241}, {4, 1, 5, 3}, {2, 2}, {2, 1}, {2, 1}, {}, 2},
    {{9, 2, 60, 60}, {2, 1, 5, 5}, {}, {2, 2}, {2, 2}, {}, 2}, // pieces of the filter gradient
};

} // namespace

TEST_CASE("group convolutions and their gradients agree with plain loops") {
  ThreadPool two(2);
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    for (const Case& c : groupCases) {
      const Convolution conv = convolution(c, type);
      const Triple given = operandsOf(conv, type);
      INFO(name(type) << ", image " << toString(c.image) << ", filter " << toString(c.filter));
      REQUIRE(suitsGroupConvolution(conv));
      for (const ConvolutionPass pass : passes) {
        checkSums(runPass(*makeGroupConvolution(pass, conv, type, two), pass, conv, given),
                  expectedOf(pass, conv, given), 0.25 * double(std::max(conv.terms(), conv.pixels())) + 8);
      }
    }
  }
}

TEST_CASE("group convolutions of 16-bit floats agree with plain loops") {
  for (const ElementType type : {ElementType::F16, ElementType::BF16}) {
    checkConvolution(groupCases[0], type, 2);
    checkConvolution(groupCases[17], type, 2);
  }
}

TEST_CASE("convolutions of groups use kernels of their shape: oneDNN's generated ones, or our own") {
  ThreadPool one(1);
  int ours = 0;
  for (const Case& c : groupCases) {
    const Convolution conv = convolution(c, ElementType::F32);
    const Triple given = operandsOf(conv, ElementType::F32);
    auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(opOf(c));
    toFilter.shape = dimsOf(conv.filter);
    const ConvolutionPass pass = ConvolutionPass::FilterGradient;
    auto kernel = makeOnednnConvolution(pass, conv, one, OnednnKernels::Generated);
    if (kernel == nullptr) {
      ++ours;
      kernel = makeGroupConvolution(pass, conv, ElementType::F32, one);
    }
    INFO("image " << toString(c.image) << ", filter " << toString(c.filter));
    CHECK(runKernel(toFilter, {given.image, given.cotangent}) == runPass(*kernel, pass, conv, given));
  }
  CHECK(ours > 0); // oneDNN generates none for three channels with seven filters
}

TEST_CASE("windows that hold mostly padding, and many channels, are left to other kernels") {
  const auto suits = [](const Case& c) { return suitsGroupConvolution(convolution(c, ElementType::F32)); };
  CHECK(suits({{1, 2, 40, 40}, {2, 1, 3, 3}, {}, {}, {}, {}, 2}));
  CHECK(!suits({{1, 2, 40, 40}, {2, 2, 3, 3}, {}, {}, {}, {}, 1}));
  CHECK(!suits({{1, 32, 40, 40}, {32, 16, 3, 3}, {}, {}, {}, {}, 2}));
  CHECK(!suits({{1, 2, 40, 1}, {2, 1, 3, 3}, {}, {0, 500}, {0, 500}, {1, 500}, 2}));
}

TEST_CASE("group convolutions give the same bits with one thread and with three") {
  const Case c{{5, 6, 64, 60}, {12, 2, 5, 5}, {}, {2, 2}, {2, 2}, {}, 3};
  ThreadPool one(1), three(3);
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    const Convolution conv = convolution(c, type);
    const Triple given = operandsOf(conv, type);
    for (const ConvolutionPass pass : passes) {
      CHECK(runPass(*makeGroupConvolution(pass, conv, type, one), pass, conv, given) ==
            runPass(*makeGroupConvolution(pass, conv, type, three), pass, conv, given));
    }
  }
}

} // namespace dfc::testing
