#include "runtime/cpu/kernels/rows/row_math.h"

#include <algorithm>

namespace dfc {
namespace {

template <class T>
constexpr ElementType laneOf() {
  return sizeof(T) == sizeof(float) ? ElementType::F32 : ElementType::F64;
}

// Calls part(lanes, count) over pieces of at most a tile.
template <class T, class Part>
void inTiles(T* lanes, int64_t count, Part part) {
  for (int64_t at = 0; at < count; at += tileElements) {
    part(lanes + at, static_cast<size_t>(std::min(tileElements, count - at)));
  }
}

template <class T>
double folded(const FoldFunctions<double>& fold, const T* lanes, int64_t count) {
  double carry = fold.identity;
  inTiles(lanes, count, [&](const T* tile, size_t length) {
    const double part = fold.row(tile, length);
    fold.merge(&carry, &part, 1);
  });
  return carry;
}

} // namespace

template <class T>
RowMath<T>::RowMath()
    : max_(floatFold(Fold::Max, laneOf<T>())), sum_(floatFold(Fold::Sum, laneOf<T>())),
      wideSum_(floatFold(Fold::Sum, ElementType::F64)), subtract_(arithmeticTile(OpKind::Sub, laneOf<T>())),
      multiply_(arithmeticTile(OpKind::Mul, laneOf<T>())), divide_(arithmeticTile(OpKind::Div, laneOf<T>())),
      exp_(arithmeticTile(OpKind::Exp, laneOf<T>())), log_(arithmeticTile(OpKind::Log, ElementType::F64)) {}

template <class T>
void RowMath<T>::apply(TileFunction function, T* row, int64_t length, double value) const {
  alignas(64) T splat[tileElements];
  std::fill_n(splat, std::min(length, tileElements), static_cast<T>(value));
  inTiles(row, length, [&](T* tile, size_t count) {
    const void* inputs[2] = {tile, splat};
    function(inputs, tile, count);
  });
}

template <class T>
void RowMath<T>::shift(T* row, int64_t length) const {
  subtract(row, length, folded(max_, row, length));
}

template <class T>
double RowMath<T>::sumOfExponentials(T* row, int64_t length, bool keep) const {
  alignas(64) T apart[tileElements];
  double carry = sum_.identity;
  inTiles(row, length, [&](T* tile, size_t count) {
    T* to = keep ? tile : apart;
    const void* inputs[1] = {tile};
    exp_(inputs, to, count);
    const double part = sum_.row(to, count);
    sum_.merge(&carry, &part, 1);
  });
  return carry;
}

template <class T>
double RowMath<T>::logarithm(double value) const {
  double result = 0;
  const void* inputs[1] = {&value};
  log_(inputs, &result, 1);
  return result;
}

template <class T>
double RowMath<T>::sum(const double* values, int64_t count) const {
  return folded(wideSum_, values, count);
}

template class RowMath<float>;
template class RowMath<double>;

} // namespace dfc
