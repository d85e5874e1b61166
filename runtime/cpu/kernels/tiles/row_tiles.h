// Steps on a row of f32 or f64 lanes with one operand for all of them; for a row they cost less than a tile
// function, whose operand would have to be spread out first.
#pragma once

#include <cstddef>

namespace dfc {

template <class T>
struct RowFunctions {
  T (*largest)(const T* row, size_t length); ///< NaN if any element is; minus infinity for no element
  void (*subtract)(T* row, size_t length, T operand);
  void (*multiply)(T* row, size_t length, T operand);
  void (*divide)(T* row, size_t length, T operand);
};

/// For float and double.
template <class T>
RowFunctions<T> rowFunctions();
template <>
RowFunctions<float> rowFunctions();
template <>
RowFunctions<double> rowFunctions();

} // namespace dfc
