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

/// An operand whose elements lie as the result's do.
struct InOrderOperand {
  size_t index;
  int64_t width;      ///< bytes an element
  bool comes = false; ///< from another device
};

/// The same a piece at a time, on the calling thread, for whoever makes the first operand piece by piece.
class ElementwisePieces {
 public:
  /// Elements of the result: `rows` runs of `length`, whose first elements are `stride` apart. Those of the
  /// first operand begin in the same place, but are `firstStride` apart.
  struct Piece {
    int64_t begin = 0, length = 0, rows = 1, stride = 0, firstStride = 0;
  };

  ElementwisePieces(const OpAttributes& attributes, OperandTypes operands, const TensorType& result);
  size_t scratchBytes() const { return source_.scratchBytes(); }
  /// Threads that the whole is worth.
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
