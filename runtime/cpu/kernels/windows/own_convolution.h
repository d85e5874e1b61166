// Convolution and its gradients as matrix products of our own (block_matmul.h): the windows of a few rows of
// results are spread out as the columns of a matrix (im2col; Chellapilla, Puri and Simard, High Performance
// Convolutional Neural Networks for Document Processing, 2006). Sums are carried in f64 in a fixed order: the
// order of terms for results, of results for image elements, of images for filters.
#pragma once

#include "runtime/cpu/kernels/windows/convolution.h"

namespace dfc {

/// f32 or f64. `conv` is not trivial.
std::unique_ptr<CpuKernel> makeOwnConvolution(ConvolutionPass pass, const Convolution& conv, ElementType type,
                                              ThreadPool& pool);

} // namespace dfc
