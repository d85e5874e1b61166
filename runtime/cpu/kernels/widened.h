// 16-bit floats through f32: operands are widened, an f32 kernel runs, and its results are rounded once.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// The types with f32 in place of f16 or bf16.
llvm::SmallVector<TensorType, 4> widenedTypes(OperandTypes types);

/// `kernel` has widenedTypes of `operands` and of `results`. Operands of other types pass unchanged; results
/// are all 16-bit floats.
std::unique_ptr<CpuKernel> makeWidenedKernel(std::unique_ptr<CpuKernel> kernel, OperandTypes operands,
                                             OperandTypes results, ThreadPool& pool);

} // namespace dfc
