// Kernels that follow indices or positions along one axis: gather, scatterAdd, oneHot, iota, trilu, topK and
// cumSum. The bits of a result depend on operands and shapes only: updates of a repeated index are added in
// order, and sums are cut by shape.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeGatherKernel(const ops::Gather& op, OperandTypes operands, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeScatterAddKernel(const ops::ScatterAdd& op, OperandTypes operands,
                                                ThreadPool& pool);
std::unique_ptr<CpuKernel> makeOneHotKernel(const ops::OneHot& op, OperandTypes operands,
                                            OperandTypes results, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeIotaKernel(const ops::Iota& op, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeTriluKernel(const ops::Trilu& op, OperandTypes operands, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeTopKKernel(const ops::TopK& op, OperandTypes operands, ThreadPool& pool);
std::unique_ptr<CpuKernel> makeCumSumKernel(const ops::CumSum& op, OperandTypes operands, ThreadPool& pool);

} // namespace dfc
