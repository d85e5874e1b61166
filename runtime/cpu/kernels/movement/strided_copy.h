// StridedCopy: elements from one strided place to another; what transpose, slice, broadcast, concat and pad
// all are. Runs that are adjacent on both sides are copied whole; where the source's adjacent axis is another
// than the result's, small squares are transposed so that both sides stay within the cache.
#pragma once

#include "runtime/cpu/thread_pool.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstddef>

namespace dfc {

class StridedCopy {
 public:
  /// `dims`, outermost first; strides and offsets in elements of `width` bytes (1, 2, 4 or 8).
  StridedCopy(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> fromStrides,
              llvm::ArrayRef<int64_t> toStrides, int64_t width, int64_t fromOffset = 0, int64_t toOffset = 0);
  void run(const std::byte* from, std::byte* to, ThreadPool& pool) const;

 private:
  struct Axis {
    int64_t length, from, to;
  };
  void copyUnit(int64_t unit, const std::byte* from, std::byte* to) const;
  void copyRows(const std::byte* from, std::byte* to, int64_t rows) const;
  template <class T>
  void copyTyped(const std::byte* from, std::byte* to, int64_t rows) const;

  llvm::SmallVector<Axis, 8> outer_;      ///< walked one by one
  Axis rows_{1, 0, 0}, columns_{1, 1, 1}; ///< the plane that is copied at once
  int64_t width_, fromOffset_, toOffset_, planes_ = 1;
  int64_t rowsPerUnit_ = 1, unitsPerPlane_ = 0; ///< planes are cut into units, which threads share
};

} // namespace dfc
