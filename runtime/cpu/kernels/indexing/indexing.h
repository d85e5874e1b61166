// Kernels that go by indices or by place along one axis: gather, scatterAdd, oneHot, iota, trilu, topK and
// cumSum. A result's bits depend on operands and shapes only: repeated indices add up in their order, sums
// are cut by shape.
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
