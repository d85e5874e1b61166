// Tile functions from functions of SIMD vectors: each loop calls `Lanes` on whole vectors, and on a padded
// vector for the remaining elements, so that all elements go through the same code. Also polynomials.
//
// Included once per instruction set, from files that Highway includes again and again: hence its guard in
// the place of #pragma once.
#if defined(DFC_LANE_TILES) == defined(HWY_TARGET_TOGGLE)
#ifdef DFC_LANE_TILES
#undef DFC_LANE_TILES
#else
#define DFC_LANE_TILES
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace lanes {

namespace hn = hwy::HWY_NAMESPACE;

/// `count` elements as a vector padded with zeros.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> loadLast(D d, const T* from, size_t count) {
  HWY_ALIGN T padded[HWY_MAX_BYTES / sizeof(T)] = {};
  for (size_t i = 0; i < count; ++i) {
    padded[i] = from[i];
  }
  return hn::Load(d, padded);
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void storeLast(D d, hn::Vec<D> value, T* to, size_t count) {
  HWY_ALIGN T padded[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(value, d, padded);
  for (size_t i = 0; i < count; ++i) {
    to[i] = padded[i];
  }
}

template <class T, class Lanes>
void unaryTile(const void* const* inputs, void* output, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t width = hn::Lanes(d);
  const T* a = static_cast<const T*>(inputs[0]);
  T* out = static_cast<T*>(output);
  size_t i = 0;
  for (; i + width <= count; i += width) {
    hn::StoreU(Lanes()(d, hn::LoadU(d, a + i)), d, out + i);
  }
  if (i < count) {
    storeLast(d, Lanes()(d, loadLast(d, a + i, count - i)), out + i, count - i);
  }
}

template <class T, class Lanes>
void binaryTile(const void* const* inputs, void* output, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t width = hn::Lanes(d);
  const T* a = static_cast<const T*>(inputs[0]);
  const T* b = static_cast<const T*>(inputs[1]);
  T* out = static_cast<T*>(output);
  size_t i = 0;
  for (; i + width <= count; i += width) {
    hn::StoreU(Lanes()(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, out + i);
  }
  if (i < count) {
    const size_t left = count - i;
    storeLast(d, Lanes()(d, loadLast(d, a + i, left), loadLast(d, b + i, left)), out + i, left);
  }
}

template <class T, class Lanes>
void ternaryTile(const void* const* inputs, void* output, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t width = hn::Lanes(d);
  const T* a = static_cast<const T*>(inputs[0]);
  const T* b = static_cast<const T*>(inputs[1]);
  const T* c = static_cast<const T*>(inputs[2]);
  T* out = static_cast<T*>(output);
  size_t i = 0;
  for (; i + width <= count; i += width) {
    hn::StoreU(Lanes()(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, out + i);
  }
  if (i < count) {
    const size_t left = count - i;
    storeLast(d, Lanes()(d, loadLast(d, a + i, left), loadLast(d, b + i, left), loadLast(d, c + i, left)),
              out + i, left);
  }
}

/// f64 rounded to f32. What rounds to infinity is made infinite here: DemoteTo saturates on some targets.
template <class N, class V>
HWY_INLINE hn::Vec<N> narrowed(N narrow, V wide) {
  const hn::Rebind<double, N> d;
  const auto beyond =
      hn::Ge(hn::Abs(wide), hn::Set(d, 0x1.ffffffp127)); // half way from the largest f32 to 2^128
  const V finite = hn::IfThenElse(beyond, hn::CopySign(hn::Set(d, 0x1p127), wide), wide);
  const V factor = hn::IfThenElse(beyond, hn::Set(d, 2.0), hn::Set(d, 1.0));
  return hn::Mul(hn::DemoteTo(narrow, finite), hn::DemoteTo(narrow, factor));
}

/// On f32 lanes, computed in f64 and rounded once.
template <class Lanes>
void widenedUnaryTile(const void* const* inputs, void* output, size_t count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const size_t width = hn::Lanes(d);
  const float* a = static_cast<const float*>(inputs[0]);
  float* out = static_cast<float*>(output);
  size_t i = 0;
  for (; i + width <= count; i += width) {
    const auto wide = Lanes()(d, hn::PromoteTo(d, hn::LoadU(narrow, a + i)));
    hn::StoreU(narrowed(narrow, wide), narrow, out + i);
  }
  if (i < count) {
    const auto wide = Lanes()(d, hn::PromoteTo(d, loadLast(narrow, a + i, count - i)));
    storeLast(narrow, narrowed(narrow, wide), out + i, count - i);
  }
}

template <class Lanes>
void widenedBinaryTile(const void* const* inputs, void* output, size_t count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const size_t width = hn::Lanes(d);
  const float* a = static_cast<const float*>(inputs[0]);
  const float* b = static_cast<const float*>(inputs[1]);
  float* out = static_cast<float*>(output);
  size_t i = 0;
  for (; i + width <= count; i += width) {
    const auto wide =
        Lanes()(d, hn::PromoteTo(d, hn::LoadU(narrow, a + i)), hn::PromoteTo(d, hn::LoadU(narrow, b + i)));
    hn::StoreU(narrowed(narrow, wide), narrow, out + i);
  }
  if (i < count) {
    const size_t left = count - i;
    const auto wide = Lanes()(d, hn::PromoteTo(d, loadLast(narrow, a + i, left)),
                              hn::PromoteTo(d, loadLast(narrow, b + i, left)));
    storeLast(narrow, narrowed(narrow, wide), out + i, left);
  }
}

/// c[0] + c[1] x + …, an even number of terms: the even and the odd ones by Horner's rule, side by side.
template <class D, class V, size_t terms>
HWY_INLINE V polynomial(D d, V x, const hn::TFromD<D> (&c)[terms]) {
  static_assert(terms % 2 == 0);
  const V square = hn::Mul(x, x);
  V even = hn::Set(d, c[terms - 2]), odd = hn::Set(d, c[terms - 1]);
  for (size_t i = terms - 2; i > 0; i -= 2) {
    even = hn::MulAdd(even, square, hn::Set(d, c[i - 2]));
    odd = hn::MulAdd(odd, square, hn::Set(d, c[i - 1]));
  }
  return hn::MulAdd(odd, x, even);
}

} // namespace lanes
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#endif
