// Kernels of pools and of their gradients: oneDNN's, or our own where oneDNN has none or differs from the
// definition of the op.
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
