// What the tests of convolutions share: a convolution by its attributes, all three passes by plain double
// loops, and the comparison of sums.
#pragma once

#include "runtime/cpu/kernels/windows/convolution.h"
#include "tests/runtime/kernels/kernel_testing.h"

#include <cmath>

namespace dfc::testing {

struct Case {
  Shape image, filter;
  Dims strides, low, high, dilations;
  int64_t groups = 1;
};
ops::Conv2d opOf(const Case& c);
Dims dimsOf(const Shape& shape);
Convolution convolution(const Case& c, ElementType type);

struct Triple {
  Literal image, filter, cotangent;
};
/// Elements in [-1, 1].
Triple operandsOf(const Convolution& conv, ElementType type);

/// Sums of products and of their magnitudes.
struct Expected {
  std::vector<double> sums, magnitudes;
  explicit Expected(int64_t elements)
      : sums(static_cast<size_t>(elements)), magnitudes(static_cast<size_t>(elements)) {}
  void add(int64_t at, double term) {
    sums[static_cast<size_t>(at)] += term;
    magnitudes[static_cast<size_t>(at)] += std::fabs(term);
  }
};
Expected expectedOf(ConvolutionPass pass, const Convolution& conv, const Triple& given);

/// f16 and bf16 accumulate in f32. A sum of n terms is off by n u sum|terms| at most.
void checkSums(const Literal& got, const Expected& expected, double terms);
/// The three ops of a convolution.
void checkConvolution(const Case& c, ElementType type, uint32_t threads);

Literal runPass(CpuKernel& kernel, ConvolutionPass pass, const Convolution& conv, const Triple& given);

} // namespace dfc::testing
