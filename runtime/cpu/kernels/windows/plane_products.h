// Products of rows that are found by their places in a block of memory, as windows over planes are: the
// matrix of all windows (im2col) is read in place. Compiled for several instruction sets; the best one is
// chosen when the program runs. T: float or double.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <cstddef>
#include <cstdint>

namespace dfc {

/// Elements behind the last one of a row that these functions may read and write.
inline constexpr int64_t productSlack = 16;

/// Row k of a matrix begins at planes + offsets[k] and has `length` elements.
template <class T>
struct PlaneRowsAt {
  const T* planes = nullptr;
  llvm::ArrayRef<int64_t> offsets;
  int64_t length = 0;
};

/// Row r of the result, at result + r * resultStride, is the sum over k of weights[k * rows + r] times row k.
template <class T>
void weightedSums(const PlaneRowsAt<T>& of, const T* weights, int64_t rows, T* result, int64_t resultStride);

/// Adds the dot product of row r of the others, at others + r * othersStride, and row k to partial sums
/// [r][k]. All rows are read up to a multiple of a vector: the others hold zeros there, the planes finite
/// numbers.
template <class T>
void addDotProducts(const PlaneRowsAt<T>& of, const T* others, int64_t rows, int64_t othersStride,
                    T* partialSums);
/// A partial sum: a vector of the widest instruction set, whose elements are added in the end.
template <class T>
inline constexpr int64_t partialSumLanes = 64 / static_cast<int64_t>(sizeof(T));

} // namespace dfc
