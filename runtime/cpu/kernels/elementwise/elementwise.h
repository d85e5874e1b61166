// Kernels of elementwise ops and of fused chains, with or without a reduction, and of the reductions
// themselves: one engine, so that fused and unfused graphs give the same bits.
#pragma once

#include "runtime/cpu/kernels/elementwise/tile_source.h"
#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// An elementwise op, or `fused` without reduction.
std::unique_ptr<CpuKernel> makeElementwiseKernel(const OpAttributes& attributes, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool,
                                                 const SharedBuffers& shared = {});

/// An operand with the layout of the result.
struct InOrderOperand {
  size_t index;
  int64_t width;      ///< bytes an element
  bool comes = false; ///< a transfer brings it from another device
};

/// The same piece by piece, on the calling thread, for a kernel that computes the first operand piece by
/// piece.
class ElementwisePieces {
 public:
  /// Elements of the result: `rows` contiguous ranges of `length`, whose first elements are `stride` apart.
  /// In the first operand the ranges begin at the same element, but are `firstStride` apart.
  struct Piece {
    int64_t begin = 0, length = 0, rows = 1, stride = 0, firstStride = 0;
  };

  ElementwisePieces(const OpAttributes& attributes, OperandTypes operands, const TensorType& result);
  size_t scratchBytes() const { return source_.scratchBytes(); }
  /// The number of threads that pays for the whole.
  uint32_t parts(const ThreadPool& pool) const;
  void run(llvm::ArrayRef<const std::byte*> operands, std::byte* result, Piece piece,
           std::byte* scratch) const;

 private:
  TileSource source_;
  int64_t width_, firstWidth_; ///< bytes of an element of the result, of the first operand
  llvm::SmallVector<InOrderOperand, 3> inOrder_;
};

/// reduceSum, reduceMean, reduceMax, reduceMin, reduceProduct, or `fused` with a reduction.
std::unique_ptr<CpuKernel> makeReductionKernel(const OpAttributes& attributes, OperandTypes operands,
                                               OperandTypes results, ThreadPool& pool);

} // namespace dfc
