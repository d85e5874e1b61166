// What pools make of windows side by side that hold no padding: element k of the result is folded over
// places[0][k * stride], places[1][k * stride], ... in this order. Compiled for several instruction sets, the
// best one chosen when the program runs; an element's value never depends on which other elements are made
// along with it.
#pragma once

#include <cstddef>

namespace dfc {

/// places[i]: where the first of `count` windows has its element i.
template <class T>
struct Places {
  const T* const* at;
  size_t size, stride, count;
};

/// The largest element, where NaN is larger than all and of two equal the first stays; `lowest` of no place.
/// For float, double, int32_t, int64_t and uint8_t.
template <class T>
using LargestFold = void (*)(T* result, const Places<T>& places, T lowest);
template <class T>
LargestFold<T> largestOfPlaces();

/// The sum in f64. For float and double.
template <class T>
using SumFold = void (*)(double* result, const Places<T>& places);
template <class T>
SumFold<T> sumOfPlaces();

} // namespace dfc
