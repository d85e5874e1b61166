// quantizedMatmul of few rows: a row of integers is read once and dequantised in registers. What limits it is
// the memory that the integers are read from.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// Of a f32, f16 or bf16, which is computed in f32 and rounded once.
std::unique_ptr<CpuKernel> makeQuantizedMatmulKernel(const ops::QuantizedMatmul& op, OperandTypes operands,
                                                     ThreadPool& pool);

} // namespace dfc
