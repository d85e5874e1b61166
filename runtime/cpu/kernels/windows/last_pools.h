// Pools of images with their channels last: the channels of a pixel lie side by side, and a window is reduced
// pixel by pixel. With NaN, ties, padding and sums as our own pools have them (own_pools.h).
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// Null for types other than f32 and f64.
std::unique_ptr<CpuKernel> makeLastMaxPool(const ops::MaxPool& op, OperandTypes operands,
                                           OperandTypes results, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeLastAveragePool(const ops::AveragePool& op, OperandTypes operands,
                                               OperandTypes results, ThreadPool& pool);

} // namespace dfc
