#include "runtime/cpu/kernels/attention/block_product.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/matmul/small_product.h"
#include "runtime/cpu/kernels/matmul/thin_product.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>
#include <type_traits>

namespace dfc {

template <class T>
void BlockProduct<T>::prepare(int64_t rows, int64_t extent, uint32_t slots) {
  const BlockMatmul shape = shapeOf_(rows, extent);
  if (std::is_same_v<T, double> || shape.rows * shape.columns * shape.inner == 0 || isThin(shape)) {
    return;
  }
  if (isSmall(shape)) {
    smallBytes_ = std::max(smallBytes_, smallProductScratch(shape));
    return;
  }
  const bool made = primitives_.add({rows, extent}, [&] {
    return onednnModule().make(onednn::MatmulRequest{ElementType::F32, shape.rows, shape.columns, shape.inner,
                                                     shape.aStride, shape.bStride, shape.cStride,
                                                     shape.transposeA, shape.transposeB},
                               slots);
  });
  DFC_ASSERT(made, "oneDNN has no product of f32");
}

template <class T>
size_t BlockProduct<T>::scratchBytes() const {
  return std::is_same_v<T, double> ? blockMatmulScratch(ElementType::F64)
                                   : std::max(smallBytes_, primitives_.scratchBytes());
}

template <class T>
void BlockProduct<T>::run(int64_t rows, int64_t extent, uint32_t slot, const T* a, const T* b, T* c,
                          std::byte* scratch) const {
  const BlockMatmul shape = shapeOf_(rows, extent);
  if (shape.inner == 0) {
    for (int64_t row = 0; row < shape.rows; ++row) {
      std::fill_n(c + row * shape.cStride, shape.columns, T(0));
    }
    return;
  }
  if (shape.rows * shape.columns == 0) {
    return;
  }
  const auto* left = reinterpret_cast<const std::byte*>(a);
  const auto* right = reinterpret_cast<const std::byte*>(b);
  auto* to = reinterpret_cast<std::byte*>(c);
  if constexpr (std::is_same_v<T, double>) {
    blockMatmul(ElementType::F64, shape, left, right, to, scratch);
  } else {
    if (isThin(shape)) {
      return thinProduct(shape, a, b, c);
    }
    if (isSmall(shape)) {
      return smallProduct(shape, a, b, c, scratch);
    }
    const std::byte* operands[2] = {left, right};
    primitives_.run({rows, extent}, slot, operands, to, scratch, "attention");
  }
}

template class BlockProduct<float>;
template class BlockProduct<double>;

} // namespace dfc
