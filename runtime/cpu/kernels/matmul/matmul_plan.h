// MatmulPlan: a batched product as a list of panels, each an ordinary product of two matrices. How it is cut
// depends on the shapes alone: oneDNN may round differently in panels of another size, and a result must not
// depend on the number of threads.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// One product: c[rows, columns] from a[rows, inner] and b[inner, columns]. Offsets and strides (from stored
/// row to stored row) in elements.
struct MatmulPanel {
  int64_t row = 0, column = 0; ///< of its first element in the product
  int64_t rows = 0, columns = 0;
  int64_t aOffset = 0, bOffset = 0, cOffset = 0;
};

class MatmulPlan {
 public:
  MatmulPlan(const ops::Matmul& op, OperandTypes operands, OperandTypes results);

  bool transposeA = false, transposeB = false;
  /// Of one product of the batch. A batch whose products have the same b is one product of all their rows.
  int64_t rows = 0, columns = 0, inner = 0;
  int64_t aStride = 0, bStride = 0;
  /// Panels along the rows, along the columns where these are more, or along both; the last one along each
  /// may be smaller.
  int64_t panelRows = 0, panelColumns = 0;

  int64_t panels() const { return batches_ * rowPanels_ * columnPanels_; }
  int64_t panelsOfOne() const { return rowPanels_ * columnPanels_; } ///< of each product of the batch
  MatmulPanel panel(int64_t index) const;
  /// The same product in panels of at most so many rows and columns, all of nearly the same size, in order
  /// down its columns.
  MatmulPlan inPanels(int64_t mostRows, int64_t mostColumns) const;
  /// Whether packing for such panels packs a: a transposed a is used in place only where a panel has all of
  /// its rows.
  bool packsA() const { return transposeA && panelRows < rows; }
  /// Nanoseconds for the whole, roughly.
  double cost() const;

 private:
  void joinRows(const Shape& a, const Shape& b);
  void cutBothWays();
  void cutForThreads(int64_t width); ///< bytes of an element
  double threadTime(int64_t threads, int64_t tall, int64_t wide, int64_t width) const;
  double flopsOfOne() const; ///< of each product of the batch

  double movedBytes_ = 0; ///< by each product of the batch, where it is bound by memory; else 0
  int64_t batches_ = 1, rowPanels_ = 1, columnPanels_ = 1;
  bool downColumns_ = false; ///< the order of a product's panels: down its columns, or along its rows
  Shape batch_;
  llvm::SmallVector<int64_t, 8> aBatch_, bBatch_; // strides over the batch axes, 0 where broadcast
};

} // namespace dfc
