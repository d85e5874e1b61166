// Products of few rows with a matrix, as a decoding step or a small batch has them: every element of the
// matrix is read once, and what bounds them is memory, not arithmetic. A library's tiles would be mostly
// empty.
#pragma once

#include "compiler/lower/kernels/chain.h"
#include "ir/graph/op.h"
#include "ir/machine/gpu_shape.h"

namespace dfc::cuda {

/// What is multiplied: a is [rows, inner], b is [inner, columns], or [columns, inner] where transposed.
struct RowProduct {
  int64_t rows = 0, columns = 0, inner = 0;
  bool transposedB = false;
  ElementType element = ElementType::F32;

  static constexpr int64_t mostRows = 8;

  /// None unless the kernel makes it: f32, f16 or bf16, at most `mostRows` rows (the leading axes of a count
  /// as rows, b has none), at least one term, and more than one column.
  static std::optional<RowProduct> of(const ops::Matmul& product, OperandTypes factors);
};

/// `last`: the epilogue; its source 0 is the product, [rows, columns], and its other operands are those of
/// the op after the two factors. Accumulates in f32, in an order fixed by the shape and by the number of
/// multiprocessors of `gpu`.
GeneratedKernels rowProductKernel(const RowProduct& product, Chain last, const GpuShape& gpu);

} // namespace dfc::cuda
