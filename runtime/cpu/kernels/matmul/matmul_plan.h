// MatmulPlan: a batched product as a list of panels, each an ordinary product of two matrices. How it is cut
// depends on the shapes alone: a product may round differently in another panel size, and a result must not
// depend on the number of threads (`packed` is for who knows that it does not: packed_panels.h).
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// One product: c[rows, columns] from a[rows, inner] and b[inner, columns]. Offsets and strides (from stored
/// row to stored row) in elements.
struct MatmulPanel {
  int64_t row = 0, column = 0; ///< where it begins in its product
  int64_t rows = 0, columns = 0;
  int64_t aOffset = 0, bOffset = 0, cOffset = 0;
};

class MatmulPlan {
 public:
  MatmulPlan(const ops::Matmul& op, OperandTypes operands, OperandTypes results);

  bool transposeA = false, transposeB = false;
  int64_t rows = 0, columns = 0, inner = 0; ///< of one product of the batch
  int64_t aStride = 0, bStride = 0;
  /// Panels along the rows, along the columns where there are more of these, or both; the last of a row or a
  /// column may be smaller.
  int64_t panelRows = 0, panelColumns = 0;

  int64_t panels() const { return batches_ * rowPanels_ * columnPanels_; }
  int64_t panelsOfOne() const { return rowPanels_ * columnPanels_; } ///< of each product of the batch
  MatmulPanel panel(int64_t index) const;
  /// The same product in panels for packed f32 operands (packed_multiplier.h): as tall as possible, and as
  /// wide as stays in L2, where `threads` threads have each as many of them or at least four; smaller where
  /// that gives them work. Nothing where packing takes longer than it saves.
  std::optional<MatmulPlan> packed(uint32_t threads) const;
  /// Nanoseconds for the whole, roughly.
  double cost() const;

 private:
  void cutBothWays();
  void cutForPacking(int64_t rowPanels, int64_t columnPanels);
  double flopsOfOne() const; ///< of each product of the batch

  double movedBytes_ = 0; ///< by each product of the batch, where that is what takes its time; else 0
  int64_t batches_ = 1, rowPanels_ = 1, columnPanels_ = 1;
  bool downColumns_ = false; ///< the order of a product's panels: down its columns, or along its rows
  Shape batch_;
  llvm::SmallVector<int64_t, 8> aBatch_, bBatch_; // strides over the batch axes, 0 where stretched
};

} // namespace dfc
