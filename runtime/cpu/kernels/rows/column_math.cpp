#include "runtime/cpu/kernels/rows/column_math.h"

#include "ir/graph/literal.h"

#include <algorithm>

namespace dfc {
namespace {

// For each of the `length` lines: values = function(values, of).
template <class T>
void update(TileFunction function, T* values, int64_t length, int64_t rows, const T* of) {
  for (int64_t i = 0; i < length; ++i, values += rows) {
    const void* inputs[2] = {values, of};
    function(inputs, values, static_cast<size_t>(rows));
  }
}

} // namespace

template <class T>
ColumnMath<T>::ColumnMath()
    : larger_(arithmeticTile(OpKind::Maximum, ElementTypeOf<T>::value)),
      minus_(arithmeticTile(OpKind::Sub, ElementTypeOf<T>::value)),
      over_(arithmeticTile(OpKind::Div, ElementTypeOf<T>::value)),
      sum_(floatReduction(ReductionKind::Sum, ElementTypeOf<T>::value)) {}

template <class T>
void ColumnMath<T>::largest(const T* values, int64_t length, int64_t rows, T* of) const {
  std::copy_n(values, rows, of);
  for (int64_t i = 1; i < length; ++i) {
    const void* inputs[2] = {of, values + i * rows};
    larger_(inputs, of, static_cast<size_t>(rows));
  }
}

template <class T>
void ColumnMath<T>::subtract(T* values, int64_t length, int64_t rows, const T* of) const {
  update(minus_, values, length, rows, of);
}

template <class T>
void ColumnMath<T>::divide(T* values, int64_t length, int64_t rows, const T* of) const {
  update(over_, values, length, rows, of);
}

template <class T>
void ColumnMath<T>::sums(const T* values, int64_t length, int64_t rows, double* of, double* parts) const {
  constexpr int64_t elementsOfPart = 64;
  const auto count = static_cast<size_t>(rows);
  std::fill_n(of, rows, sum_.identity);
  for (int64_t first = 0; first < length; first += elementsOfPart) {
    std::fill_n(parts, rows, sum_.identity);
    for (int64_t i = first; i < std::min(first + elementsOfPart, length); ++i) {
      sum_.column(parts, values + i * rows, count);
    }
    sum_.merge(of, parts, count);
  }
}

template class ColumnMath<float>;
template class ColumnMath<double>;

} // namespace dfc
