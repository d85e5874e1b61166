// Reductions over tiles: the inner loops of every reduction. The order within a row is fixed and the same for
// all instruction sets: element i goes to partial result i mod 16, and a tree combines the 16. A sum starts
// from -0, the identity of IEEE addition, so that the sum of one element is that element.
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

struct SumReduction {
  static constexpr double floatIdentity = -0.0;
  static constexpr int64_t integerIdentity = 0;
  static HWY_INLINE double join(double a, double b) { return a + b; }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};

struct ProductReduction {
  static constexpr double floatIdentity = 1;
  static constexpr int64_t integerIdentity = 1;
  static HWY_INLINE double join(double a, double b) { return a * b; }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};

struct MaxReduction {
  static constexpr double floatIdentity = -std::numeric_limits<double>::infinity();
  static constexpr int64_t integerIdentity = std::numeric_limits<int64_t>::lowest();
  static HWY_INLINE double join(double a, double b) { // a unless b is greater, or NaN where a is not
    return ((a >= b) | (a != a)) ? a : b;             // NOLINT(misc-redundant-expression): NaN
  }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) { return a > b ? a : b; }
};

struct MinReduction {
  static constexpr double floatIdentity = std::numeric_limits<double>::infinity();
  static constexpr int64_t integerIdentity = std::numeric_limits<int64_t>::max();
  static HWY_INLINE double join(double a, double b) { // a unless b is smaller, or NaN where a is not
    return ((a <= b) | (a != a)) ? a : b;             // NOLINT(misc-redundant-expression): NaN
  }
  static HWY_INLINE int64_t join(int64_t a, int64_t b) { return a < b ? a : b; }
};

template <class Carry, class Reduction>
constexpr Carry identityOf() {
  if constexpr (std::is_same_v<Carry, double>) {
    return Reduction::floatIdentity;
  } else {
    return Reduction::integerIdentity;
  }
}

constexpr size_t partialCount = 16;

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

// The same order with vectors; maxima and minima of floats are exact in the type of the elements.
template <class Reduction, class Keep, class T>
double extremeOfRow(const void* elements, size_t count) {
  const hn::CappedTag<T, partialCount> d;
  const T* from = static_cast<const T*>(elements);
  HWY_ALIGN T partials[partialCount];
  std::fill_n(partials, partialCount, static_cast<T>(Reduction::floatIdentity));
  size_t i = 0;
  for (; i + partialCount <= count; i += partialCount) {
    for (size_t k = 0; k < partialCount; k += hn::Lanes(d)) {
      const auto a = hn::Load(d, partials + k), b = hn::LoadU(d, from + i + k);
      hn::Store(hn::IfThenElse(hn::Or(Keep::keeps(a, b), hn::IsNaN(a)), a, b), d, partials + k);
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    partials[k] = static_cast<T>(Reduction::join(partials[k], from[i + k]));
  }
  for (size_t half = partialCount / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) {
      partials[k] = static_cast<T>(Reduction::join(partials[k], partials[k + half]));
    }
  }
  return partials[0];
}

template <class Carry, class Reduction, class T>
Carry reduceRow(const void* elements, size_t count) {
  const T* from = static_cast<const T*>(elements);
  Carry partials[partialCount];
  for (Carry& partial : partials) {
    partial = identityOf<Carry, Reduction>();
  }
  size_t i = 0;
  for (; i + partialCount <= count; i += partialCount) {
    for (size_t k = 0; k < partialCount; ++k) {
      partials[k] = Reduction::join(partials[k], static_cast<Carry>(from[i + k]));
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    partials[k] = Reduction::join(partials[k], static_cast<Carry>(from[i + k]));
  }
  for (size_t half = partialCount / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) {
      partials[k] = Reduction::join(partials[k], partials[k + half]);
    }
  }
  return partials[0];
}

template <class Carry, class Reduction, class T>
void reduceColumns(Carry* carry, const void* elements, size_t count) {
  const T* from = static_cast<const T*>(elements);
  DFC_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    carry[i] = Reduction::join(carry[i], static_cast<Carry>(from[i]));
  }
}

template <class Carry, class Reduction>
void mergeCarries(Carry* carry, const Carry* other, size_t count) {
  reduceColumns<Carry, Reduction, Carry>(carry, other, count);
}

template <class Carry, class Reduction, class T>
ReductionFunctions<Carry> functionsOf() {
  ReductionFunctions<Carry> functions{identityOf<Carry, Reduction>(), reduceRow<Carry, Reduction, T>,
                                      reduceColumns<Carry, Reduction, T>, mergeCarries<Carry, Reduction>};
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<Reduction, MaxReduction>) {
    functions.row = extremeOfRow<Reduction, KeepLarger, T>;
  }
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<Reduction, MinReduction>) {
    functions.row = extremeOfRow<Reduction, KeepSmaller, T>;
  }
  return functions;
}

template <class Reduction>
ReductionFunctions<double> floatFunctions(ElementType type) {
  return type == ElementType::F64 ? functionsOf<double, Reduction, double>()
                                  : functionsOf<double, Reduction, float>();
}

template <class Reduction>
ReductionFunctions<int64_t> integerFunctions(ElementType type) {
  if (type == ElementType::I64) {
    return functionsOf<int64_t, Reduction, int64_t>();
  }
  return type == ElementType::I32 ? functionsOf<int64_t, Reduction, int32_t>()
                                  : functionsOf<int64_t, Reduction, uint8_t>();
}

ReductionFunctions<double> chooseFloatReduction(ReductionKind kind, ElementType type) {
  switch (kind) {
  case ReductionKind::Sum: return floatFunctions<SumReduction>(type);
  case ReductionKind::Product: return floatFunctions<ProductReduction>(type);
  case ReductionKind::Max: return floatFunctions<MaxReduction>(type);
  case ReductionKind::Min: break;
  }
  return floatFunctions<MinReduction>(type);
}
ReductionFunctions<int64_t> chooseIntegerReduction(ReductionKind kind, ElementType type) {
  switch (kind) {
  case ReductionKind::Sum: return integerFunctions<SumReduction>(type);
  case ReductionKind::Product: return integerFunctions<ProductReduction>(type);
  case ReductionKind::Max: return integerFunctions<MaxReduction>(type);
  case ReductionKind::Min: break;
  }
  return integerFunctions<MinReduction>(type);
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseFloatReduction);
HWY_EXPORT(chooseIntegerReduction);

ReductionFunctions<double> floatReduction(ReductionKind kind, ElementType type) {
  return HWY_DYNAMIC_DISPATCH(chooseFloatReduction)(kind, type);
}
ReductionFunctions<int64_t> integerReduction(ReductionKind kind, ElementType type) {
  return HWY_DYNAMIC_DISPATCH(chooseIntegerReduction)(kind, type);
}

} // namespace dfc
#endif
