// Kernels of conv2d and of its two gradients. f32 uses oneDNN; f16 and bf16 are widened to f32 and rounded at
// the end. Of groups with few channels, for which oneDNN generates no kernel, and of f64 such groups use
// group_convolution.h; f64 else, and convolutions that oneDNN does not take, use own_convolution.h. The
// choice depends on the op and its types alone.
#pragma once

#include "ir/graph/rules/convolution.h"
#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// conv2d, conv2dInputGradient or conv2dFilterGradient.
std::unique_ptr<CpuKernel> makeConvolutionKernel(const OpAttributes& attributes, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool);

/// Which kernels of oneDNN will do.
enum class OnednnKernels : uint8_t {
  Any,
  Generated ///< for the shape; no plain loops, and no products of a matrix of all windows
};
/// Through oneDNN, of f32; null where it has nothing. `conv`: with elements in all three tensors.
std::unique_ptr<CpuKernel> makeOnednnConvolution(ConvolutionPass pass, const Convolution& conv,
                                                 ThreadPool& pool,
                                                 OnednnKernels kernels = OnednnKernels::Any);

} // namespace dfc
