// quantizedMatmul: a row of integers is read once for all rows of a and dequantised in registers. Of few
// rows, what limits it is the memory that the integers are read from; products of many rows are decomposed.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// Of every float type; f16 and bf16 are computed in f32 and rounded once.
std::unique_ptr<CpuKernel> makeQuantizedMatmulKernel(const ops::QuantizedMatmul& op, OperandTypes operands,
                                                     ThreadPool& pool);

} // namespace dfc
