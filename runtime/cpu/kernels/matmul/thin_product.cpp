#include "runtime/cpu/kernels/matmul/thin_product.h"
#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/matmul/thin_product.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, 16>;

// The dot product of two rows: two vector accumulators, then the remaining elements.
float dotOfRows(const float* a, const float* b, int64_t count) {
  const Lanes d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto first = hn::Zero(d), second = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    first = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), first);
    second = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), second);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(first, second)));
  for (; i < count; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

// One row of the product, `vectors` vectors of columns of it: accumulators stay in registers over all rows of
// b.
template <int vectors>
void addRows(const float* a, const float* b, int64_t stride, int64_t count, float* to) {
  const Lanes d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Lanes> s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  for (int64_t k = 0; k < count; ++k, b += stride) {
    const auto x = hn::Set(d, a[k]);
    s0 = hn::MulAdd(x, hn::LoadU(d, b), s0);
    if constexpr (vectors == 4) {
      s1 = hn::MulAdd(x, hn::LoadU(d, b + lanes), s1);
      s2 = hn::MulAdd(x, hn::LoadU(d, b + 2 * lanes), s2);
      s3 = hn::MulAdd(x, hn::LoadU(d, b + 3 * lanes), s3);
    }
  }
  hn::StoreU(s0, d, to);
  if constexpr (vectors == 4) {
    hn::StoreU(s1, d, to + lanes);
    hn::StoreU(s2, d, to + 2 * lanes);
    hn::StoreU(s3, d, to + 3 * lanes);
  }
}

void rowOfSums(const BlockMatmul& shape, const float* a, const float* b, float* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Lanes()));
  int64_t column = 0;
  for (; column + 4 * lanes <= shape.columns; column += 4 * lanes) {
    addRows<4>(a, b + column, shape.bStride, shape.inner, c + column);
  }
  for (; column + lanes <= shape.columns; column += lanes) {
    addRows<1>(a, b + column, shape.bStride, shape.inner, c + column);
  }
  for (; column < shape.columns; ++column) {
    float sum = 0;
    for (int64_t k = 0; k < shape.inner; ++k) {
      sum += a[k] * b[k * shape.bStride + column];
    }
    c[column] = sum;
  }
}

void thin(const BlockMatmul& shape, const float* a, const float* b, float* c) {
  for (int64_t row = 0; row < shape.rows; ++row) {
    const float* const from = a + row * shape.aStride;
    float* const to = c + row * shape.cStride;
    if (!shape.transposeB) {
      rowOfSums(shape, from, b, to);
      continue;
    }
    for (int64_t column = 0; column < shape.columns; ++column) {
      to[column] = dotOfRows(from, b + column * shape.bStride, shape.inner);
    }
  }
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(thin);

bool isThin(const BlockMatmul& shape) {
  constexpr int64_t mostRows = 4;
  return shape.rows <= mostRows && !shape.transposeA;
}

void thinProduct(const BlockMatmul& shape, const float* a, const float* b, float* c) {
  HWY_DYNAMIC_DISPATCH(thin)(shape, a, b, c);
}

} // namespace dfc
#endif
