// conv2dInputGradient (a transposed convolution in evaluation) of images with their channels last, by oneDNN,
// of f32.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// With another layout than nchw. Null where oneDNN has nothing for it, for other types than f32, and where a
/// tensor has no elements.
std::unique_ptr<CpuKernel> makeLastInputGradient(const ops::Conv2dInputGradient& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool);

} // namespace dfc
