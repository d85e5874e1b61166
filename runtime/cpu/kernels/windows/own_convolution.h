// Convolution and its gradients as our own matrix products (block_matmul.h): im2col copies the windows of a
// few rows of results, or of a part of a long row, to the columns of a matrix (Chellapilla, Puri and Simard,
// High Performance Convolutional Neural Networks for Document Processing, 2006). Sums are accumulated in f64
// in an order that follows from the shapes: over terms for results, over blocks of results for gradients.
#pragma once

#include "runtime/cpu/kernels/windows/convolution.h"

namespace dfc {

/// f32 or f64. `conv`: with elements in all three tensors.
std::unique_ptr<CpuKernel> makeOwnConvolution(ConvolutionPass pass, const Convolution& conv, ElementType type,
                                              ThreadPool& pool);

} // namespace dfc
