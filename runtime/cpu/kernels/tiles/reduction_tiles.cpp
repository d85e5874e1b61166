// Folds over lanes: the inner loops of every reduction. The order of a row's fold is fixed and the same for
// all instruction sets: element i goes to fold i mod 16, and the 16 are combined by a tree. The sum starts
// from -0, the neutral element of IEEE addition, so that a sum of one element is that element.
#include "runtime/cpu/kernels/tiles/simd_targets.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/reduction_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

struct SumFold {
  static constexpr double floatIdentity = -0.0;
  static constexpr int64_t integerIdentity = 0;
  static HWY_INLINE double join(double a, double b) { return a + b; }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};

struct ProductFold {
  static constexpr double floatIdentity = 1;
  static constexpr int64_t integerIdentity = 1;
  static HWY_INLINE double join(double a, double b) { return a * b; }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};

struct MaxFold {
  static constexpr double floatIdentity = -std::numeric_limits<double>::infinity();
  static constexpr int64_t integerIdentity = std::numeric_limits<int64_t>::lowest();
  static HWY_INLINE double join(double a, double b) { // a unless b is greater, or NaN where a is not
    return ((a >= b) | (a != a)) ? a : b;             // NOLINT(misc-redundant-expression): NaN
  }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) { return a > b ? a : b; }
};

struct MinFold {
  static constexpr double floatIdentity = std::numeric_limits<double>::infinity();
  static constexpr int64_t integerIdentity = std::numeric_limits<int64_t>::max();
  static HWY_INLINE double join(double a, double b) { // a unless b is smaller, or NaN where a is not
    return ((a <= b) | (a != a)) ? a : b;             // NOLINT(misc-redundant-expression): NaN
  }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) { return a < b ? a : b; }
};

template <class Carry, class Fold>
constexpr Carry identityOf() {
  if constexpr (std::is_same_v<Carry, double>) {
    return Fold::floatIdentity;
  } else {
    return Fold::integerIdentity;
  }
}

constexpr size_t foldLanes = 16;

struct KeepLarger {
  template <class V>
  static HWY_INLINE auto keeps(V a, V b) {
    return hn::Ge(a, b);
  }
};
struct KeepSmaller {
  template <class V>
  static HWY_INLINE auto keeps(V a, V b) {
    return hn::Le(a, b);
  }
};

// The same order with vectors; maxima and minima of floats are exact in the lanes' own type.
template <class Fold, class Keep, class T>
double extremeOfRow(const void* lanes, size_t count) {
  const hn::CappedTag<T, foldLanes> d;
  const T* from = static_cast<const T*>(lanes);
  HWY_ALIGN T folds[foldLanes];
  std::fill_n(folds, foldLanes, static_cast<T>(Fold::floatIdentity));
  size_t i = 0;
  for (; i + foldLanes <= count; i += foldLanes) {
    for (size_t lane = 0; lane < foldLanes; lane += hn::Lanes(d)) {
      const auto a = hn::Load(d, folds + lane), b = hn::LoadU(d, from + i + lane);
      hn::Store(hn::IfThenElse(hn::Or(Keep::keeps(a, b), hn::IsNaN(a)), a, b), d, folds + lane);
    }
  }
  for (size_t lane = 0; i + lane < count; ++lane) {
    folds[lane] = static_cast<T>(Fold::join(folds[lane], from[i + lane]));
  }
  for (size_t half = foldLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) {
      folds[lane] = static_cast<T>(Fold::join(folds[lane], folds[lane + half]));
    }
  }
  return folds[0];
}

template <class Carry, class Fold, class T>
Carry foldRow(const void* lanes, size_t count) {
  const T* from = static_cast<const T*>(lanes);
  Carry folds[foldLanes];
  for (Carry& fold : folds) {
    fold = identityOf<Carry, Fold>();
  }
  size_t i = 0;
  for (; i + foldLanes <= count; i += foldLanes) {
    for (size_t lane = 0; lane < foldLanes; ++lane) {
      folds[lane] = Fold::join(folds[lane], static_cast<Carry>(from[i + lane]));
    }
  }
  for (size_t lane = 0; i + lane < count; ++lane) {
    folds[lane] = Fold::join(folds[lane], static_cast<Carry>(from[i + lane]));
  }
  for (size_t half = foldLanes / 2; half > 0; half /= 2) {
    for (size_t lane = 0; lane < half; ++lane) {
      folds[lane] = Fold::join(folds[lane], folds[lane + half]);
    }
  }
  return folds[0];
}

template <class Carry, class Fold, class T>
void foldColumns(Carry* carry, const void* lanes, size_t count) {
  const T* from = static_cast<const T*>(lanes);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    carry[i] = Fold::join(carry[i], static_cast<Carry>(from[i]));
  }
}

template <class Carry, class Fold>
void mergeCarries(Carry* carry, const Carry* other, size_t count) {
  foldColumns<Carry, Fold, Carry>(carry, other, count);
}

template <class Carry, class Fold, class T>
FoldFunctions<Carry> functionsOf() {
  FoldFunctions<Carry> functions{identityOf<Carry, Fold>(), foldRow<Carry, Fold, T>,
                                 foldColumns<Carry, Fold, T>, mergeCarries<Carry, Fold>};
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<Fold, MaxFold>) {
    functions.row = extremeOfRow<Fold, KeepLarger, T>;
  }
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<Fold, MinFold>) {
    functions.row = extremeOfRow<Fold, KeepSmaller, T>;
  }
  return functions;
}

template <class FoldT>
FoldFunctions<double> floatFunctions(ElementType lane) {
  return lane == ElementType::F64 ? functionsOf<double, FoldT, double>()
                                  : functionsOf<double, FoldT, float>();
}

template <class FoldT>
FoldFunctions<int64_t> integerFunctions(ElementType lane) {
  if (lane == ElementType::I64) {
    return functionsOf<int64_t, FoldT, int64_t>();
  }
  return lane == ElementType::I32 ? functionsOf<int64_t, FoldT, int32_t>()
                                  : functionsOf<int64_t, FoldT, uint8_t>();
}

FoldFunctions<double> chooseFloatFold(Fold fold, ElementType lane) {
  switch (fold) {
  case Fold::Sum: return floatFunctions<SumFold>(lane);
  case Fold::Product: return floatFunctions<ProductFold>(lane);
  case Fold::Max: return floatFunctions<MaxFold>(lane);
  case Fold::Min: break;
  }
  return floatFunctions<MinFold>(lane);
}
FoldFunctions<int64_t> chooseIntegerFold(Fold fold, ElementType lane) {
  switch (fold) {
  case Fold::Sum: return integerFunctions<SumFold>(lane);
  case Fold::Product: return integerFunctions<ProductFold>(lane);
  case Fold::Max: return integerFunctions<MaxFold>(lane);
  case Fold::Min: break;
  }
  return integerFunctions<MinFold>(lane);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseFloatFold);
HWY_EXPORT(chooseIntegerFold);

FoldFunctions<double> floatFold(Fold fold, ElementType lane) {
  return HWY_DYNAMIC_DISPATCH(chooseFloatFold)(fold, lane);
}
FoldFunctions<int64_t> integerFold(Fold fold, ElementType lane) {
  return HWY_DYNAMIC_DISPATCH(chooseIntegerFold)(fold, lane);
}

} // namespace dfc
#endif
