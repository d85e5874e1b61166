// Matrix products of integers, for which cuBLASLt has no algorithm: a generated kernel with one thread per
// element of the result. Sums wrap as the element type does.
#pragma once

#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/graph/op.h"

namespace dfc::cuda {

/// `resultType`: of an integer type.
GeneratedKernels generateIntegerMatmul(const ops::Matmul& matmul, OperandTypes factors,
                                       const TensorType& resultType);

} // namespace dfc::cuda
