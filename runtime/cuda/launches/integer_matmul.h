// Matrix products of integers, which cuBLASLt does not multiply: a generated kernel, an element of the result
// a thread. Sums wrap as the element type does.
#pragma once

#include "ir/graph/op.h"
#include "runtime/cuda/kernels/generated_kernel.h"

namespace dfc::cuda {

/// None for element types that are not integers.
std::optional<GeneratedWork> generateIntegerMatmul(const ops::Matmul& matmul, OperandTypes operands,
                                                   OperandTypes results);

} // namespace dfc::cuda
