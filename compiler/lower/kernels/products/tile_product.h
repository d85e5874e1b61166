// Products of f32 matrices in tf32 that are too small for a library's tiles, which would leave most
// multiprocessors idle. Here a block computes 32 x 32 elements, so that there are blocks for all of them, and
// the ops fused behind the product are applied to the sums before they are written.
#pragma once

#include "compiler/lower/kernels/chain.h"
#include "ir/graph/op.h"
#include "ir/machine/gpu_shape.h"

namespace dfc::cuda {

/// What is multiplied, after the transposes: a is [rows, inner], b is [inner, columns]. Transposed ones lie
/// the other way round.
struct TileProduct {
  int64_t rows = 0, columns = 0, inner = 0;
  bool transposedA = false, transposedB = false;

  /// None unless the kernel makes it: one product (no batch) in tf32, of more than one row, whose factors are
  /// read in packs of four and whose sums have terms.
  static std::optional<TileProduct> of(const ops::Matmul& product, OperandTypes factors);

  int64_t tiles() const;
  /// Whether the GPU's multiprocessors make all tiles in about one go. Larger products are cuBLASLt's, whose
  /// tiles read less.
  bool isSmall(const GpuShape& gpu) const;
};

/// `last`: what becomes of the product, which is its source 0 and has [rows, columns]; its operands are those
/// of the op behind the two factors. Factors are rounded to tf32, to two thirds of a last place, and sums
/// made in f32, in four parts of the inner dimension that are added in turn: the same bits every time.
GeneratedKernels tileProductKernel(const TileProduct& product, Chain last);

} // namespace dfc::cuda
