// A matrix times a vector is a reduction of a broadcast product: read once at the memory's speed by a
// generated kernel, where cuBLASLt's tiles would be mostly empty.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/cuda/kernels/generated_kernel.h"

namespace dfc::cuda {

/// None unless one side of a plain (not batched) f32 or f64 product has a single row or column. The arguments
/// of the work are those of the matmul.
std::optional<GeneratedWork> generateVectorMatmul(const ops::Matmul& matmul, OperandTypes operands,
                                                  const TensorType& result, const GpuShape& gpu);

/// A column times a row, with whatever a fused matmul does to the product: elementwise work. None unless the
/// inner dimension of a plain f32 or f64 product is 1. The arguments are those of the op.
std::optional<GeneratedWork> generateOuterProduct(const OpRow& row, OperandTypes operands,
                                                  OperandTypes results, const GpuShape& gpu);

} // namespace dfc::cuda
