// The last results of a row are computed by a vector that begins further back and computes some results
// again; rows shorter than a vector use shorter vectors.
#include "runtime/cpu/kernels/windows/window_reductions.h"

#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/windows/plane_rows.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/windows/window_reductions.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Elements 0, 2, ... or, with `odd`, 1, 3, ... behind `from`.
template <class D>
HWY_INLINE hn::Vec<D> everySecond(D d, const hn::TFromD<D>* from, bool odd) {
  hn::Vec<D> even = hn::Zero(d), odds = even;
  hn::LoadInterleaved2(d, from, even, odds);
  return odd ? odds : even;
}

// How one element of neighbouring windows is loaded: for windows one element apart, or two. With two, the
// last vector of a row reads one element before its first and none behind its last.
struct Dense {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from, bool /*last*/) {
    return hn::LoadU(d, from);
  }
};
struct Second {
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from, bool last) {
    return last ? everySecond(d, from - 1, true) : everySecond(d, from, false);
  }
};

template <class T>
struct Largest {
  using Result = T;
  using Element = T;
  T lowest;

  HWY_INLINE T start() const { return lowest; }
  HWY_INLINE T join(T best, T next) const { return beats(next, best) ? next : best; }
  template <class Load, class D>
  HWY_INLINE hn::Vec<D> join(D d, hn::Vec<D> best, const T* from, bool last) const {
    const hn::Vec<D> next = Load::load(d, from, last);
    if constexpr (hwy::IsFloat<T>()) {
      const auto stays = hn::Or(hn::Le(next, best), hn::IsNaN(best));
      return hn::IfThenElse(stays, best, next);
    } else {
      return hn::Max(best, next);
    }
  }
};

template <class T>
struct Sum {
  using Result = double;
  using Element = T;

  HWY_INLINE double start() const { return 0; }
  HWY_INLINE double join(double sum, T next) const { return sum + static_cast<double>(next); }
  template <class Load, class D>
  HWY_INLINE hn::Vec<D> join(D d, hn::Vec<D> sum, const T* from, bool last) const {
    if constexpr (sizeof(T) == sizeof(double)) {
      return hn::Add(sum, Load::load(d, from, last));
    } else {
      return hn::Add(sum, hn::PromoteTo(d, Load::load(hn::Rebind<T, D>(), from, last)));
    }
  }
};

// Results k, k + 1, ..., as many as a vector of `d` holds.
template <class Load, class D, class Reduction, class T>
HWY_INLINE void reduceVector(D d, const Reduction& reduction, typename Reduction::Result* result,
                             const WindowElements<T>& elements, size_t k, bool last) {
  hn::Vec<D> value = hn::Set(d, reduction.start());
  for (size_t i = 0; i < elements.size; ++i) {
    value = reduction.template join<Load>(d, value, elements.at[i] + k * elements.stride, last);
  }
  hn::StoreU(value, d, result + k);
}

// False where there are too few results for vectors of `d`.
template <class Load, class D, class Reduction, class T>
HWY_INLINE bool reduceVectors(D d, const Reduction& reduction, typename Reduction::Result* result,
                              const WindowElements<T>& elements) {
  const size_t lanes = hn::Lanes(d);
  if (elements.count <= lanes) {
    return false;
  }
  for (size_t k = 0; k + lanes < elements.count; k += lanes) {
    reduceVector<Load>(d, reduction, result, elements, k, false);
  }
  reduceVector<Load>(d, reduction, result, elements, elements.count - lanes, true);
  return true;
}

template <class Reduction, class T>
HWY_INLINE void reduceWindows(const Reduction& reduction, typename Reduction::Result* result,
                              const WindowElements<T>& elements) {
  const hn::ScalableTag<typename Reduction::Result> whole;
  const hn::CappedTag<typename Reduction::Result, 4> few;
  if (elements.stride == 1 && (reduceVectors<Dense>(whole, reduction, result, elements) ||
                               reduceVectors<Dense>(few, reduction, result, elements))) {
    return;
  }
  if (elements.stride == 2 && (reduceVectors<Second>(whole, reduction, result, elements) ||
                               reduceVectors<Second>(few, reduction, result, elements))) {
    return;
  }
  for (size_t k = 0; k < elements.count; ++k) {
    typename Reduction::Result value = reduction.start();
    for (size_t i = 0; i < elements.size; ++i) {
      value = reduction.join(value, elements.at[i][k * elements.stride]);
    }
    result[k] = value;
  }
}

template <class T>
void maxOfWindows(T* result, const WindowElements<T>& elements, T lowest) {
  reduceWindows(Largest<T>{lowest}, result, elements);
}
template <class T>
void sumOfWindows(double* result, const WindowElements<T>& elements) {
  reduceWindows(Sum<T>{}, result, elements);
}

WindowMax<float> largestFloats() { return maxOfWindows<float>; }
WindowMax<double> largestDoubles() { return maxOfWindows<double>; }
WindowMax<int32_t> largestWords() { return maxOfWindows<int32_t>; }
WindowMax<int64_t> largestLongs() { return maxOfWindows<int64_t>; }
WindowMax<uint8_t> largestBytes() { return maxOfWindows<uint8_t>; }
WindowSum<float> sumOfFloats() { return sumOfWindows<float>; }
WindowSum<double> sumOfDoubles() { return sumOfWindows<double>; }

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(largestFloats);
HWY_EXPORT(largestDoubles);
HWY_EXPORT(largestWords);
HWY_EXPORT(largestLongs);
HWY_EXPORT(largestBytes);
HWY_EXPORT(sumOfFloats);
HWY_EXPORT(sumOfDoubles);

template <>
WindowMax<float> windowMax() {
  return HWY_DYNAMIC_DISPATCH(largestFloats)();
}
template <>
WindowMax<double> windowMax() {
  return HWY_DYNAMIC_DISPATCH(largestDoubles)();
}
template <>
WindowMax<int32_t> windowMax() {
  return HWY_DYNAMIC_DISPATCH(largestWords)();
}
template <>
WindowMax<int64_t> windowMax() {
  return HWY_DYNAMIC_DISPATCH(largestLongs)();
}
template <>
WindowMax<uint8_t> windowMax() {
  return HWY_DYNAMIC_DISPATCH(largestBytes)();
}
template <>
WindowSum<float> windowSum() {
  return HWY_DYNAMIC_DISPATCH(sumOfFloats)();
}
template <>
WindowSum<double> windowSum() {
  return HWY_DYNAMIC_DISPATCH(sumOfDoubles)();
}

} // namespace dfc
#endif
