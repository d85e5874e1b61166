// Sums of four rows and a vector of columns stay in registers over the inner extent. The last columns take
// shorter vectors; a transposed b is laid out plainly first.
#include "runtime/cpu/kernels/matmul/small_product.h"

#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/matmul/small_product.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Element [row, k] of a lies at a + row * rowStride + k * innerStride.
struct SmallOperands {
  const float* a;
  int64_t rowStride, innerStride;
  const float* b;
  int64_t bStride;
  float* c;
  int64_t cStride, inner;
};

template <size_t lanes, int rows, int vectors>
void smallTile(const SmallOperands& of, int64_t row, int64_t column) {
  const hn::CappedTag<float, lanes> d;
  const auto step = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[rows][vectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      sums[r][v] = hn::Zero(d);
    }
  }
  const float* a = of.a + row * of.rowStride;
  const float* b = of.b + column;
  for (int64_t k = 0; k < of.inner; ++k, a += of.innerStride, b += of.bStride) {
    for (int v = 0; v < vectors; ++v) {
      const auto x = hn::LoadU(d, b + v * step);
      for (int r = 0; r < rows; ++r) {
        sums[r][v] = hn::MulAdd(hn::Set(d, a[r * of.rowStride]), x, sums[r][v]);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v) {
      hn::StoreU(sums[r][v], d, of.c + (row + r) * of.cStride + column + v * step);
    }
  }
}

template <size_t lanes, int vectors>
void smallColumns(const SmallOperands& of, int64_t rows, int64_t column) {
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    smallTile<lanes, 4, vectors>(of, row, column);
  }
  for (; row < rows; ++row) {
    smallTile<lanes, 1, vectors>(of, row, column);
  }
}

// Columns from `column` on, in vectors of `most` lanes and then of fewer.
template <size_t most>
void smallFrom(const SmallOperands& of, int64_t rows, int64_t columns, int64_t column) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::CappedTag<float, most>()));
  for (; column + 2 * lanes <= columns; column += 2 * lanes) {
    smallColumns<most, 2>(of, rows, column);
  }
  for (; column + lanes <= columns; column += lanes) {
    smallColumns<most, 1>(of, rows, column);
  }
  if constexpr (most > 1) {
    smallFrom<most / 2>(of, rows, columns, column);
  }
}

void multiplySmall(const BlockMatmul& shape, const float* a, const float* b, float* c, float* scratch) {
  SmallOperands of{a, shape.aStride, 1, b, shape.bStride, c, shape.cStride, shape.inner};
  if (shape.transposeA) {
    of.rowStride = 1;
    of.innerStride = shape.aStride;
  }
  if (shape.transposeB) {
    for (int64_t column = 0; column < shape.columns; ++column) {
      for (int64_t k = 0; k < shape.inner; ++k) {
        scratch[k * shape.columns + column] = b[column * shape.bStride + k];
      }
    }
    of.b = scratch;
    of.bStride = shape.columns;
  }
  smallFrom<16>(of, shape.rows, shape.columns, 0);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(multiplySmall);

bool isSmall(const BlockMatmul& shape) {
  constexpr int64_t mostTerms = 1 << 15;
  return shape.rows * shape.columns * shape.inner <= mostTerms;
}

size_t smallProductScratch(const BlockMatmul& shape) {
  return shape.transposeB ? static_cast<size_t>(shape.inner * shape.columns + 15) / 16 * 64 : 0;
}

void smallProduct(const BlockMatmul& shape, const float* a, const float* b, float* c, std::byte* scratch) {
  HWY_DYNAMIC_DISPATCH(multiplySmall)(shape, a, b, c, reinterpret_cast<float*>(scratch));
}

} // namespace dfc
#endif
