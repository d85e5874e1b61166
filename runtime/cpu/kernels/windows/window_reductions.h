// Window reductions: the maximum or the sum of each of several windows side by side that hold no padding.
// Result k reduces at[0][k * stride], at[1][k * stride], ... in this order. Compiled for several instruction
// sets; the best one is chosen when the program runs. The value of a result never depends on which other
// results are computed along with it.
#pragma once

#include <cstddef>

namespace dfc {

/// at[i]: element i of the first of `count` windows; the next window's lies `stride` elements further on.
template <class T>
struct WindowElements {
  const T* const* at;
  size_t size, stride, count;
};

/// The largest element, where NaN is larger than all and of two equal the first stays; `lowest` of none.
/// For float, double, int32_t, int64_t and uint8_t.
template <class T>
using WindowMax = void (*)(T* result, const WindowElements<T>& elements, T lowest);
template <class T>
WindowMax<T> windowMax();

/// The sum in f64. For float and double.
template <class T>
using WindowSum = void (*)(double* result, const WindowElements<T>& elements);
template <class T>
WindowSum<T> windowSum();

} // namespace dfc
