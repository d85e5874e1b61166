// Kernels of dynamicSlice and dynamicUpdateSlice: a strided copy whose place in the larger tensor is read
// when it runs.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeDynamicSliceKernel(const ops::DynamicSlice& op, OperandTypes operands,
                                                  OperandTypes results, ThreadPool& pool);
/// Where the result is operand 0, only the update is written.
std::unique_ptr<CpuKernel> makeDynamicUpdateSliceKernel(const ops::DynamicUpdateSlice& op,
                                                        OperandTypes operands, ThreadPool& pool);

} // namespace dfc
