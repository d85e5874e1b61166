// Convolutions of images with their channels last, strip by strip, each strip followed by an epilogue while
// it is in the caches of the thread that computed it. By oneDNN, of f32.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// conv2d with another layout than nchw. Null where oneDNN has nothing for it, for other types than f32, and
/// where a tensor has no elements.
std::unique_ptr<CpuKernel> makeStripConvolution(const ops::Conv2d& op, OperandTypes operands,
                                                OperandTypes results, ThreadPool& pool);
/// fusedConv2d of any type and layout.
std::unique_ptr<CpuKernel> makeFusedConv2dKernel(const ops::FusedConv2d& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool);

} // namespace dfc
