// A matrix times a vector is a reduction of a broadcast product: read once at the memory's speed by a
// generated kernel, where cuBLASLt's tiles would be mostly empty.
#pragma once

#include "ir/op.h"
#include "runtime/cuda/kernels/generated_kernel.h"

namespace dfc::cuda {

/// None unless one side of a plain (not batched) f32 or f64 product has a single row or column. The arguments
/// of the work are those of the matmul.
std::optional<GeneratedWork> generateVectorMatmul(const ops::Matmul& matmul, OperandTypes operands,
                                                  const TensorType& result);

} // namespace dfc::cuda
