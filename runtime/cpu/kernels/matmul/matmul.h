// Kernels of matmul. f32 and bf16 use oneDNN; f16, and bf16 on processors without such instructions, are
// widened to f32 and rounded at the end; f64 and integers use our own kernel (block_matmul.h).
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeMatmulKernel(const ops::Matmul& op, OperandTypes operands,
                                            OperandTypes results, ThreadPool& pool);

} // namespace dfc
