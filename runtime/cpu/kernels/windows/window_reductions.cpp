// The last elements of a run go through vectors that begin further back, and are made anew there; runs
// shorter than a vector through shorter ones.
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

// How a place's lanes are read: for windows a step apart, or two. With these the last vector of a run reads
// one element before its first and none behind its last.
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

// As many as the vectors `d` hold, from the k-th on.
template <class Load, class D, class Fold, class T>
HWY_INLINE void foldVector(D d, const Fold& fold, typename Fold::Result* result, const Places<T>& places,
                           size_t k, bool last) {
  hn::Vec<D> value = hn::Set(d, fold.start());
  for (size_t i = 0; i < places.size; ++i) {
    value = fold.template join<Load>(d, value, places.at[i] + k * places.stride, last);
  }
  hn::StoreU(value, d, result + k);
}

// False where the vectors are too long for that few.
template <class Load, class D, class Fold, class T>
HWY_INLINE bool foldVectors(D d, const Fold& fold, typename Fold::Result* result, const Places<T>& places) {
  const size_t lanes = hn::Lanes(d);
  if (places.count <= lanes) {
    return false;
  }
  for (size_t k = 0; k + lanes < places.count; k += lanes) {
    foldVector<Load>(d, fold, result, places, k, false);
  }
  foldVector<Load>(d, fold, result, places, places.count - lanes, true);
  return true;
}

template <class Fold, class T>
HWY_INLINE void foldPlaces(const Fold& fold, typename Fold::Result* result, const Places<T>& places) {
  const hn::ScalableTag<typename Fold::Result> whole;
  const hn::CappedTag<typename Fold::Result, 4> few;
  if (places.stride == 1 &&
      (foldVectors<Dense>(whole, fold, result, places) || foldVectors<Dense>(few, fold, result, places))) {
    return;
  }
  if (places.stride == 2 &&
      (foldVectors<Second>(whole, fold, result, places) || foldVectors<Second>(few, fold, result, places))) {
    return;
  }
  for (size_t k = 0; k < places.count; ++k) {
    typename Fold::Result value = fold.start();
    for (size_t i = 0; i < places.size; ++i) {
      value = fold.join(value, places.at[i][k * places.stride]);
    }
    result[k] = value;
  }
}

template <class T>
void foldLargest(T* result, const Places<T>& places, T lowest) {
  foldPlaces(Largest<T>{lowest}, result, places);
}
template <class T>
void foldSum(double* result, const Places<T>& places) {
  foldPlaces(Sum<T>{}, result, places);
}

LargestFold<float> largestFloats() { return foldLargest<float>; }
LargestFold<double> largestDoubles() { return foldLargest<double>; }
LargestFold<int32_t> largestWords() { return foldLargest<int32_t>; }
LargestFold<int64_t> largestLongs() { return foldLargest<int64_t>; }
LargestFold<uint8_t> largestBytes() { return foldLargest<uint8_t>; }
SumFold<float> sumOfFloats() { return foldSum<float>; }
SumFold<double> sumOfDoubles() { return foldSum<double>; }

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
LargestFold<float> largestOfPlaces() {
  return HWY_DYNAMIC_DISPATCH(largestFloats)();
}
template <>
LargestFold<double> largestOfPlaces() {
  return HWY_DYNAMIC_DISPATCH(largestDoubles)();
}
template <>
LargestFold<int32_t> largestOfPlaces() {
  return HWY_DYNAMIC_DISPATCH(largestWords)();
}
template <>
LargestFold<int64_t> largestOfPlaces() {
  return HWY_DYNAMIC_DISPATCH(largestLongs)();
}
template <>
LargestFold<uint8_t> largestOfPlaces() {
  return HWY_DYNAMIC_DISPATCH(largestBytes)();
}
template <>
SumFold<float> sumOfPlaces() {
  return HWY_DYNAMIC_DISPATCH(sumOfFloats)();
}
template <>
SumFold<double> sumOfPlaces() {
  return HWY_DYNAMIC_DISPATCH(sumOfDoubles)();
}

} // namespace dfc
#endif
