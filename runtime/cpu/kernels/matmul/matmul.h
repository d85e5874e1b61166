// Kernels of matmul. f32 and bf16 go to oneDNN; f16, and bf16 where the processor has nothing for it, are
// widened to f32 and rounded at the end; f64 and integers have a kernel of our own (block_matmul.h).
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeMatmulKernel(const ops::Matmul& op, OperandTypes operands,
                                            OperandTypes results, ThreadPool& pool);

} // namespace dfc
