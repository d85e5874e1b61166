// Tile functions from functions of one element: plain loops, for exact arithmetic, whose results do not
// depend on vectorisation.
//
// Included once per instruction set, from files that Highway includes again and again: hence its guard in
// the place of #pragma once. Its users include simd_targets.h first.
#if defined(DFC_SCALAR_TILES) == defined(HWY_TARGET_TOGGLE)
#ifdef DFC_SCALAR_TILES
#undef DFC_SCALAR_TILES
#else
#define DFC_SCALAR_TILES
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace scalars {

/// out[i] = Scalar()(a[i], b[i])
template <class T, class Scalar>
void binaryTile(const void* const* inputs, void* output, size_t count) {
  const T* a = static_cast<const T*>(inputs[0]);
  const T* b = static_cast<const T*>(inputs[1]);
  T* out = static_cast<T*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = Scalar()(a[i], b[i]);
  }
}

/// out[i] = Scalar()(a[i])
template <class T, class Scalar>
void unaryTile(const void* const* inputs, void* output, size_t count) {
  const T* a = static_cast<const T*>(inputs[0]);
  T* out = static_cast<T*>(output);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = Scalar()(a[i]);
  }
}

} // namespace scalars
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#endif
