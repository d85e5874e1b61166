// RowMath: the steps of softmax and of normalisation on rows of f32 or f64. Sums are carried in f64.
// The exponential takes contiguous rows in one call.
#pragma once

#include "runtime/cpu/kernels/tiles/row_tiles.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {

template <class T>
class RowMath {
 public:
  RowMath();
  /// NaN if any element is.
  T largest(const T* row, int64_t length) const { return row_.largest(row, static_cast<size_t>(length)); }
  T magnitude(const T* row, int64_t length) const { return row_.magnitude(row, static_cast<size_t>(length)); }
  /// to[i] = from[i] - the row's mean, rounded to T; the magnitude of that. `to` may be `from`.
  T centre(const T* from, T* to, int64_t length) const {
    const auto mean = static_cast<T>(sum(from, length) / static_cast<double>(length));
    return row_.centre(from, to, static_cast<size_t>(length), mean);
  }
  /// Subtracts the row's maximum; then no element is above 0.
  void shift(T* row, int64_t length) const;
  void subtract(T* row, int64_t length, double value) const;
  void multiply(T* row, int64_t length, double factor) const;
  void divide(T* row, int64_t length, double divisor) const;
  double sum(const T* row, int64_t length) const;
  /// Brings the row's mean to 0, where `centred`, and then its mean square, plus `epsilon`, to 1. Two passes,
  /// in f64.
  Normalisation<T> normalisationOf(const T* row, int64_t length, bool centred, double epsilon) const;
  void normalise(T* row, int64_t length, Normalisation<T> by, const T* scale, const T* bias) const {
    row_.normalise(row, static_cast<size_t>(length), by, scale, bias);
  }
  /// The gradient of such a normalisation to the row, with g = cotangent * scale and x the normalised
  /// element: to[i] = (g - [mean(g) if `centred`] - x mean(g x)) * by.inverse. Sums in f64.
  void differentiate(const T* row, const T* cotangent, const T* scale, T* to, int64_t length, bool centred,
                     Normalisation<T> by) const;
  /// sums[i] += cotangent[i] * x, the gradient to the scale; sums[i] += row[i].
  void addProducts(const T* row, const T* cotangent, double* sums, int64_t length,
                   Normalisation<T> by) const {
    row_.addProducts(row, cotangent, sums, static_cast<size_t>(length), by);
  }
  void addTo(const T* row, double* sums, int64_t length) const {
    row_.addTo(row, sums, static_cast<size_t>(length));
  }
  /// to[i] = exp(from[i]); `to` may be `from`.
  void exponentials(const T* from, T* to, int64_t count) const;
  /// In place.
  void logarithms(double* values, int64_t count) const;

 private:
  RowFunctions<T> row_;
  ReductionFunctions<double> sum_;
  TileFunction exp_, log_;
};

extern template class RowMath<float>;
extern template class RowMath<double>;

} // namespace dfc
