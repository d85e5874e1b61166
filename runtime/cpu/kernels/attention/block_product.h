// BlockProduct: one of attention's matrix products for blocks of several shapes: f32 by oneDNN, of few rows
// by ../matmul/thin_product.h, of few products by ../matmul/small_product.h, and f64 by our own blocks.
#pragma once

#include "runtime/cpu/kernels/matmul/block_matmul.h"
#include "runtime/cpu/kernels/shaped_primitives.h"

#include <functional>

namespace dfc {

/// T: float or double.
template <class T>
class BlockProduct {
 public:
  /// The product for a block of `rows` queries and `extent` keys.
  using ShapeOf = std::function<BlockMatmul(int64_t rows, int64_t extent)>;

  explicit BlockProduct(ShapeOf shapeOf) : shapeOf_(std::move(shapeOf)) {}
  /// Before `run` is called with this shape, by `slots` callers at the same time. Throws MachineError when
  /// oneDNN cannot be loaded.
  void prepare(int64_t rows, int64_t extent, uint32_t slots);
  size_t scratchBytes() const; ///< of one caller; a multiple of 64
  /// c = a b; zeros for a sum without terms. `scratch`: scratchBytes(), aligned to 64.
  void run(int64_t rows, int64_t extent, uint32_t slot, const T* a, const T* b, T* c,
           std::byte* scratch) const;

 private:
  ShapeOf shapeOf_;
  ShapedPrimitives primitives_;
  size_t smallBytes_ = 0; // scratch of small products
};

extern template class BlockProduct<float>;
extern template class BlockProduct<double>;

} // namespace dfc
