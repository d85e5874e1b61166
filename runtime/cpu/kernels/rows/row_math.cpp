// See row_math.h.
#include "runtime/cpu/kernels/rows/row_math.h"

#include "ir/graph/literal.h"

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

template <class T>
void inTiles(TileFunction function, const T* from, T* to, int64_t count) {
  for (int64_t at = 0; at < count; at += tileElements) {
    const void* inputs[1] = {from + at};
    function(inputs, to + at, static_cast<size_t>(std::min(tileElements, count - at)));
  }
}

} // namespace

template <class T>
RowMath<T>::RowMath()
    : row_(rowFunctions<T>()), sum_(floatReduction(ReductionKind::Sum, ElementTypeOf<T>::value)),
      exp_(arithmeticTile(OpKind::Exp, ElementTypeOf<T>::value)),
      log_(arithmeticTile(OpKind::Log, ElementType::F64)) {}

template <class T>
void RowMath<T>::shift(T* row, int64_t length) const {
  const auto count = static_cast<size_t>(length);
  row_.subtract(row, count, row_.largest(row, count));
}

template <class T>
void RowMath<T>::subtract(T* row, int64_t length, double value) const {
  row_.subtract(row, static_cast<size_t>(length), static_cast<T>(value));
}

template <class T>
void RowMath<T>::multiply(T* row, int64_t length, double factor) const {
  row_.multiply(row, static_cast<size_t>(length), static_cast<T>(factor));
}

template <class T>
void RowMath<T>::divide(T* row, int64_t length, double divisor) const {
  row_.divide(row, static_cast<size_t>(length), static_cast<T>(divisor));
}

template <class T>
double RowMath<T>::sum(const T* row, int64_t length) const {
  double carry = sum_.identity;
  for (int64_t at = 0; at < length; at += tileElements) {
    const double part = sum_.row(row + at, static_cast<size_t>(std::min(tileElements, length - at)));
    sum_.merge(&carry, &part, 1);
  }
  return carry;
}

template <class T>
Normalisation<T> RowMath<T>::normalisationOf(const T* row, int64_t length, bool centred,
                                             double epsilon) const {
  Normalisation<T> by;
  if (centred) {
    const double mean = sum(row, length) / static_cast<double>(length);
    by.high = static_cast<T>(mean);
    by.low = static_cast<T>(mean - static_cast<double>(by.high));
  }
  double squares = 0;
  for (int64_t at = 0; at < length; at += tileElements) {
    squares += row_.squares(row + at, static_cast<size_t>(std::min(tileElements, length - at)), by);
  }
  by.inverse = static_cast<T>(1 / std::sqrt(squares / static_cast<double>(length) + epsilon));
  return by;
}

template <class T>
void RowMath<T>::differentiate(const T* row, const T* cotangent, const T* scale, T* to, int64_t length,
                               bool centred, Normalisation<T> by) const {
  const auto count = static_cast<size_t>(length);
  const GradientSums sums = row_.gradientSums(row, cotangent, scale, count, by);
  const auto n = static_cast<double>(length);
  row_.differentiate(row, cotangent, scale, to, count, by, {centred ? sums.g / n : 0, sums.gx / n});
}

template <class T>
void RowMath<T>::exponentials(const T* from, T* to, int64_t count) const {
  inTiles(exp_, from, to, count);
}

template <class T>
void RowMath<T>::logarithms(double* values, int64_t count) const {
  inTiles(log_, values, values, count);
}

template class RowMath<float>;
template class RowMath<double>;

} // namespace dfc
