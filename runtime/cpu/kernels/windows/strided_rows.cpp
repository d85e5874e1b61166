// The last elements of a row are copied by a vector that begins further back; rows shorter than a vector use
// shorter vectors.
#include "runtime/cpu/kernels/windows/strided_rows.h"

#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/windows/strided_rows.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of adjacent elements, of `most` lanes or more.
template <size_t most, class T>
void copyDense(const StridedRows<const T>& from, const StridedRows<T>& to, int64_t rows, int64_t count) {
  const hn::CappedTag<T, most> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < rows; ++row) {
    const T* const read = from.first + row * from.pitch;
    T* const written = to.first + row * to.pitch;
    for (int64_t i = 0; i + lanes < count; i += lanes) {
      hn::StoreU(hn::LoadU(d, read + i), d, written + i);
    }
    hn::StoreU(hn::LoadU(d, read + count - lanes), d, written + count - lanes);
  }
}

// Every second element, of more than `most` lanes: the last vector of a row reads one element before its
// first and none behind its last.
template <size_t most, class T>
void copySecond(const StridedRows<const T>& from, const StridedRows<T>& to, int64_t rows, int64_t count) {
  const hn::CappedTag<T, most> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < rows; ++row) {
    const T* const read = from.first + row * from.pitch;
    T* const written = to.first + row * to.pitch;
    auto even = hn::Zero(d), odd = even;
    for (int64_t i = 0; i + lanes < count; i += lanes) {
      hn::LoadInterleaved2(d, read + 2 * i, even, odd);
      hn::StoreU(even, d, written + i);
    }
    hn::LoadInterleaved2(d, read + 2 * (count - lanes) - 1, even, odd);
    hn::StoreU(odd, d, written + count - lanes);
  }
}

template <class T>
void copySingly(const StridedRows<const T>& from, const StridedRows<T>& to, int64_t rows, int64_t count) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < count; ++i) {
      to.first[row * to.pitch + i * to.stride] = from.first[row * from.pitch + i * from.stride];
    }
  }
}

template <size_t most, class T>
void copyUpTo(const StridedRows<const T>& from, const StridedRows<T>& to, int64_t rows, int64_t count) {
  if constexpr (most >= 2) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(hn::CappedTag<T, most>()));
    if (from.stride == 1 && count >= lanes) {
      return copyDense<most>(from, to, rows, count);
    }
    if (from.stride == 2 && count > lanes) {
      return copySecond<most>(from, to, rows, count);
    }
    return copyUpTo<most / 2>(from, to, rows, count);
  } else {
    copySingly(from, to, rows, count);
  }
}

template <class T>
void copy(const StridedRows<const T>& from, const StridedRows<T>& to, int64_t rows, int64_t count) {
  if (to.stride != 1 || from.stride > 2) {
    return copySingly(from, to, rows, count);
  }
  if (from.stride == 1 && from.pitch == count && to.pitch == count) {
    return copyUpTo<64 / sizeof(T)>(from, to, 1, rows * count);
  }
  copyUpTo<64 / sizeof(T)>(from, to, rows, count);
}

void copyFloats(const StridedRows<const float>& from, const StridedRows<float>& to, int64_t rows,
                int64_t count) {
  copy(from, to, rows, count);
}
void copyDoubles(const StridedRows<const double>& from, const StridedRows<double>& to, int64_t rows,
                 int64_t count) {
  copy(from, to, rows, count);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(copyFloats);
HWY_EXPORT(copyDoubles);

template <>
void copyStridedRows(const StridedRows<const float>& from, const StridedRows<float>& to, int64_t rows,
                     int64_t count) {
  if (count > 0) {
    HWY_DYNAMIC_DISPATCH(copyFloats)(from, to, rows, count);
  }
}
template <>
void copyStridedRows(const StridedRows<const double>& from, const StridedRows<double>& to, int64_t rows,
                     int64_t count) {
  if (count > 0) {
    HWY_DYNAMIC_DISPATCH(copyDoubles)(from, to, rows, count);
  }
}

} // namespace dfc
#endif
