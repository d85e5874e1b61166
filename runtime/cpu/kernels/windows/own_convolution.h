// Convolution and its gradients as matrix products of our own (block_matmul.h): the windows of a few rows of
// results, or of a stretch of a long row, are spread out as the columns of a matrix (im2col; Chellapilla,
// Puri and Simard, High Performance Convolutional Neural Networks for Document Processing, 2006). Sums are
// carried in f64 in an order that follows from the shapes: of terms for results, of blocks of results for
// what gradients add up.
#pragma once

#include "runtime/cpu/kernels/windows/convolution.h"

namespace dfc {

/// f32 or f64. `conv`: with elements in all three tensors.
std::unique_ptr<CpuKernel> makeOwnConvolution(ConvolutionPass pass, const Convolution& conv, ElementType type,
                                              ThreadPool& pool);

} // namespace dfc
