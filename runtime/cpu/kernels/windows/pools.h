// Kernels of pools and of their gradients. Not oneDNN's: that loses NaN in the maximum, wants blocks of
// channels, and breaks ties as it likes. Results side by side are worked on together, in vectors. Means, and
// the sums that gradients are, are carried in f64 and rounded once; f16 and bf16 maxima are found in f32.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeMaxPoolKernel(const ops::MaxPool& op, OperandTypes operands,
                                             OperandTypes results, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeAveragePoolKernel(const ops::AveragePool& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeMaxPoolGradientKernel(const ops::MaxPoolGradient& op, OperandTypes operands,
                                                     ThreadPool& pool);
std::unique_ptr<CpuKernel> makeAveragePoolGradientKernel(const ops::AveragePoolGradient& op,
                                                         OperandTypes results, ThreadPool& pool);

} // namespace dfc
