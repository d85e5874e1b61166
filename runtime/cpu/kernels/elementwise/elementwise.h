// Kernels of elementwise ops and of fused chains, with or without a reduction, and of the reductions
// themselves: one engine, so that fused and unfused graphs give the same bits.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// An elementwise op, or `fused` without reduction.
std::unique_ptr<CpuKernel> makeElementwiseKernel(const OpAttributes& attributes, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool,
                                                 const SharedBuffers& shared = {});

/// reduceSum, reduceMean, reduceMax, reduceMin, reduceProduct, or `fused` with a reduction.
std::unique_ptr<CpuKernel> makeReductionKernel(const OpAttributes& attributes, OperandTypes operands,
                                               OperandTypes results, ThreadPool& pool);

} // namespace dfc
