// Copies of rows of planes between two pitches, of every stride-th element or to every stride-th place.
// Compiled for several instruction sets; the best one is chosen when the program runs. T: float or double.
#pragma once

#include <cstdint>

namespace dfc {

/// Rows of `count` elements, each row `pitch` behind the one before, each element `stride` behind the one
/// before.
template <class T>
struct StridedRows {
  T* first = nullptr;
  int64_t pitch = 0, stride = 1;
};

/// to = from. One of the two strides is 1, and no row of `to` overlaps `from`.
template <class T>
void copyStridedRows(const StridedRows<const T>& from, const StridedRows<T>& to, int64_t rows, int64_t count);

} // namespace dfc
