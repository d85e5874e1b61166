// Steps on a row of f32 or f64 with one scalar operand. They cost less than a tile function, whose operand
// would have to be broadcast to a tile first.
#pragma once

#include <cstddef>

namespace dfc {

/// Normalisation of an element: (x - high - low) * inverse. A mean in f64 is split into a high and a low f32,
/// so that a large mean keeps its precision.
template <class T>
struct Normalisation {
  T high = 0, low = 0, inverse = 1;
};

/// What the gradient of a normalised row needs of all its elements: with g = cotangent * scale and x the
/// normalised element, the sums, or the means, of g and of g x.
struct GradientSums {
  double g = 0, gx = 0;
};

template <class T>
struct RowFunctions {
  T (*largest)(const T* row, size_t length);   ///< NaN if any element is; minus infinity for no element
  T (*magnitude)(const T* row, size_t length); ///< the largest |x|; NaN if any element is; 0 for no element
  /// to[i] = from[i] - operand, and the magnitude of that; `to` may be `from`.
  T (*centre)(const T* from, T* to, size_t length, T operand);
  void (*subtract)(T* row, size_t length, T operand);
  void (*multiply)(T* row, size_t length, T operand);
  void (*divide)(T* row, size_t length, T operand);
  /// The sum of (x - high - low)^2 in f64: 16 interleaved sums, then a tree over those.
  double (*squares)(const T* row, size_t length, Normalisation<T> by);
  /// In place: (x - high - low) * inverse * scale + bias; `bias` may be null.
  void (*normalise)(T* row, size_t length, Normalisation<T> by, const T* scale, const T* bias);
  /// Sums in f64, in the order of `squares`.
  GradientSums (*gradientSums)(const T* row, const T* cotangent, const T* scale, size_t length,
                               Normalisation<T> by);
  /// to[i] = (g - means.g - x means.gx) * inverse.
  void (*differentiate)(const T* row, const T* cotangent, const T* scale, T* to, size_t length,
                        Normalisation<T> by, GradientSums means);
  /// sums[i] += cotangent[i] * x.
  void (*addProducts)(const T* row, const T* cotangent, double* sums, size_t length, Normalisation<T> by);
  void (*addTo)(const T* row, double* sums, size_t length); ///< sums[i] += row[i]
};

/// For float and double.
template <class T>
RowFunctions<T> rowFunctions();
template <>
RowFunctions<float> rowFunctions();
template <>
RowFunctions<double> rowFunctions();

} // namespace dfc
