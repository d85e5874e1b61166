// Products of few rows and products with a vector: generated kernels that read the matrix once at the
// memory's bandwidth, where cuBLASLt's tiles would be mostly empty. A matrix times a vector is a reduction of
// a broadcast product, and a column times a row is an elementwise op.
#pragma once

#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/graph/graph.h"

namespace dfc::cuda {

/// Whether the product is not batched and its `result` has a single row or column, with at least one term an
/// element.
bool isVectorProduct(const ops::Matmul& matmul, OperandTypes factors, const TensorType& result);
/// Of such a product. The arguments are those of the matmul.
GeneratedKernels generateVectorMatmul(const ops::Matmul& matmul, OperandTypes factors,
                                      const TensorType& result, const GpuShape& gpu);

/// Kernel of a matmul or fusedMatmul of few rows (`RowProduct::of` accepts it), with its epilogue. Arguments:
/// the operands and the result of the op.
GeneratedKernels generateRowProduct(const OpRow& row, OperandTypes operands, const TensorType& result,
                                    const GpuShape& gpu);

/// Whether the product is not batched and its inner dimension is 1: a column times a row.
bool isOuterProduct(const ops::Matmul& matmul, OperandTypes factors);
/// Of such an op, with what a fused matmul does to the product. The arguments are those of the op.
GeneratedKernels generateOuterProduct(const OpRow& row, OperandTypes operands, OperandTypes results,
                                      const GpuShape& gpu);

} // namespace dfc::cuda
