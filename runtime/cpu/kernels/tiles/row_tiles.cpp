// Whole-row steps of softmax and normalisation on f32 and f64 lanes, with Google Highway.
#include "runtime/cpu/kernels/tiles/row_tiles.h"
#include "runtime/cpu/kernels/tiles/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/kernels/tiles/row_tiles.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace dfc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The largest of `lowest` and of of(d, i) at every element i; NaN if any is NaN.
template <class T, class Of>
HWY_INLINE T largestMade(size_t length, T lowest, Of of) {
  const hn::ScalableTag<T> d;
  auto largest = hn::Set(d, lowest);
  auto nan = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= length; i += hn::Lanes(d)) {
    const auto vector = of(d, i);
    largest = hn::Max(largest, vector); // Max may drop NaN, which `nan` collects
    nan = hn::Or(nan, hn::VecFromMask(d, hn::IsNaN(vector)));
  }
  T result = hn::GetLane(hn::MaxOfLanes(d, largest));
  bool found = !hn::AllFalse(d, hn::MaskFromVec(nan));
  const hn::CappedTag<T, 1> one;
  for (; i < length; ++i) {
    const T element = hn::GetLane(of(one, i));
    result = element > result ? element : result;
    found |= element != element; // NOLINT(misc-redundant-expression): NaN
  }
  return found ? std::numeric_limits<T>::quiet_NaN() : result;
}

template <class T>
T largestOf(const T* row, size_t length) {
  return largestMade(length, -std::numeric_limits<T>::infinity(),
                     [row](auto d, size_t i) HWY_ATTR { return hn::LoadU(d, row + i); });
}

template <class T>
T magnitudeOf(const T* row, size_t length) {
  return largestMade(length, T(0),
                     [row](auto d, size_t i) HWY_ATTR { return hn::Abs(hn::LoadU(d, row + i)); });
}

template <class T>
T centreOn(const T* from, T* to, size_t length, T operand) {
  return largestMade(length, T(0), [=](auto d, size_t i) HWY_ATTR {
    const auto distance = hn::Sub(hn::LoadU(d, from + i), hn::Set(d, operand));
    hn::StoreU(distance, d, to + i);
    return hn::Abs(distance);
  });
}

// row[i] = join(row[i], operand). Elements are independent, so the remainder may use any vector width.
template <class T, class Join>
HWY_INLINE void update(T* row, size_t length, T operand, Join join) {
  const hn::ScalableTag<T> d;
  const auto operands = hn::Set(d, operand);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= length; i += hn::Lanes(d)) {
    hn::StoreU(join(hn::LoadU(d, row + i), operands), d, row + i);
  }
  const hn::CappedTag<T, 1> one;
  for (; i < length; ++i) {
    hn::Store(join(hn::Load(one, row + i), hn::Set(one, operand)), one, row + i);
  }
}

template <class T>
void subtractFrom(T* row, size_t length, T operand) {
  update(row, length, operand, [](auto a, auto b) HWY_ATTR { return hn::Sub(a, b); });
}
template <class T>
void multiplyBy(T* row, size_t length, T operand) {
  update(row, length, operand, [](auto a, auto b) HWY_ATTR { return hn::Mul(a, b); });
}
template <class T>
void divideBy(T* row, size_t length, T operand) {
  update(row, length, operand, [](auto a, auto b) HWY_ATTR { return hn::Div(a, b); });
}

template <class T>
double sumOfSquares(const T* row, size_t length, Normalisation<T> by) {
  constexpr size_t partialCount = 16;
  double sums[partialCount] = {};
  size_t i = 0;
  const auto add = [&](size_t k) HWY_ATTR {
    const double distance = (row[i + k] - by.high) - by.low;
    sums[k] += distance * distance;
  };
  for (; i + partialCount <= length; i += partialCount) {
    for (size_t k = 0; k < partialCount; ++k) {
      add(k);
    }
  }
  for (size_t k = 0; i + k < length; ++k) {
    add(k);
  }
  for (size_t half = partialCount / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) {
      sums[k] += sums[k + half];
    }
  }
  return sums[0];
}

template <class T>
void normaliseRow(T* row, size_t length, Normalisation<T> by, const T* scale, const T* bias) {
  if (bias != nullptr) {
    for (size_t i = 0; i < length; ++i) {
      row[i] = ((row[i] - by.high) - by.low) * by.inverse * scale[i] + bias[i];
    }
  } else {
    for (size_t i = 0; i < length; ++i) {
      row[i] = ((row[i] - by.high) - by.low) * by.inverse * scale[i];
    }
  }
}

template <class T>
GradientSums gradientSumsOf(const T* row, const T* cotangent, const T* scale, size_t length,
                            Normalisation<T> by) {
  constexpr size_t partialCount = 16;
  double ofG[partialCount] = {}, ofGx[partialCount] = {};
  size_t i = 0;
  const auto add = [&](size_t k) HWY_ATTR {
    const T x = ((row[i + k] - by.high) - by.low) * by.inverse;
    const double g = cotangent[i + k] * scale[i + k];
    ofG[k] += g;
    ofGx[k] += g * x;
  };
  for (; i + partialCount <= length; i += partialCount) {
    for (size_t k = 0; k < partialCount; ++k) {
      add(k);
    }
  }
  for (size_t k = 0; i + k < length; ++k) {
    add(k);
  }
  for (size_t half = partialCount / 2; half > 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) {
      ofG[k] += ofG[k + half];
      ofGx[k] += ofGx[k + half];
    }
  }
  return {ofG[0], ofGx[0]};
}

template <class T>
void differentiateRow(const T* HWY_RESTRICT row, const T* HWY_RESTRICT cotangent, const T* HWY_RESTRICT scale,
                      T* HWY_RESTRICT to, size_t length, Normalisation<T> by, GradientSums means) {
  const T ofG = static_cast<T>(means.g), ofGx = static_cast<T>(means.gx);
  for (size_t i = 0; i < length; ++i) {
    const T x = ((row[i] - by.high) - by.low) * by.inverse;
    to[i] = (cotangent[i] * scale[i] - ofG - x * ofGx) * by.inverse;
  }
}

template <class T>
void addProductsTo(const T* HWY_RESTRICT row, const T* HWY_RESTRICT cotangent, double* HWY_RESTRICT sums,
                   size_t length, Normalisation<T> by) {
  for (size_t i = 0; i < length; ++i) {
    const T x = ((row[i] - by.high) - by.low) * by.inverse;
    sums[i] += static_cast<double>(cotangent[i]) * static_cast<double>(x);
  }
}

template <class T>
void addRowTo(const T* HWY_RESTRICT row, double* HWY_RESTRICT sums, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    sums[i] += static_cast<double>(row[i]);
  }
}

template <class T>
RowFunctions<T> functionsOf() {
  return {largestOf<T>,      magnitudeOf<T>,      centreOn<T>,      subtractFrom<T>,
          multiplyBy<T>,     divideBy<T>,         sumOfSquares<T>,  normaliseRow<T>,
          gradientSumsOf<T>, differentiateRow<T>, addProductsTo<T>, addRowTo<T>};
}

RowFunctions<float> chooseFloatRow() { return functionsOf<float>(); }
RowFunctions<double> chooseDoubleRow() { return functionsOf<double>(); }

} // namespace
} // namespace HWY_NAMESPACE
} // namespace dfc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace dfc {

HWY_EXPORT(chooseFloatRow);
HWY_EXPORT(chooseDoubleRow);

template <>
RowFunctions<float> rowFunctions() {
  return HWY_DYNAMIC_DISPATCH(chooseFloatRow)();
}
template <>
RowFunctions<double> rowFunctions() {
  return HWY_DYNAMIC_DISPATCH(chooseDoubleRow)();
}

} // namespace dfc
#endif
