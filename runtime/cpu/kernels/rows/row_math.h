// RowMath: the steps of softmax on one row of f32 or f64 lanes, made of tile functions. Sums are carried in
// f64.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {

template <class T>
class RowMath {
 public:
  RowMath();
  /// Subtracts the row's maximum; then no element is above 0.
  void shift(T* row, int64_t length) const;
  /// Sum of exp(row[i]); with `keep`, row[i] becomes exp(row[i]).
  double sumOfExponentials(T* row, int64_t length, bool keep) const;
  void divide(T* row, int64_t length, double divisor) const { apply(divide_, row, length, divisor); }
  void multiply(T* row, int64_t length, double factor) const { apply(multiply_, row, length, factor); }
  void subtract(T* row, int64_t length, double value) const { apply(subtract_, row, length, value); }
  double logarithm(double value) const;
  double sum(const double* values, int64_t count) const;

 private:
  void apply(TileFunction function, T* row, int64_t length, double value) const;
  FoldFunctions<double> max_, sum_, wideSum_;
  TileFunction subtract_, multiply_, divide_, exp_, log_;
};

extern template class RowMath<float>;
extern template class RowMath<double>;

} // namespace dfc
