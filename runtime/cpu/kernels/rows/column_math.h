// ColumnMath: the steps of softmax on interleaved rows, as f32 or f64 values [length][rows]: element i of row
// r is values[i * rows + r]. The result of a row never depends on other rows. Sums are accumulated in f64, in
// blocks of 64 elements.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {

template <class T>
class ColumnMath {
 public:
  ColumnMath();
  /// Of each row; NaN if any element of it is. For a length of at least 1.
  void largest(const T* values, int64_t length, int64_t rows, T* of) const;
  /// Subtracts of[r] from every element of row r.
  void subtract(T* values, int64_t length, int64_t rows, const T* of) const;
  void divide(T* values, int64_t length, int64_t rows, const T* of) const;
  /// `parts`: scratch for as many as `of`.
  void sums(const T* values, int64_t length, int64_t rows, double* of, double* parts) const;

 private:
  TileFunction larger_, minus_, over_;
  ReductionFunctions<double> sum_;
};

extern template class ColumnMath<float>;
extern template class ColumnMath<double>;

} // namespace dfc
