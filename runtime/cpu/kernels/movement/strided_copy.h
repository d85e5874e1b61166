// StridedCopy: elements from one strided place to another; what transpose, slice, split, broadcast, tile,
// concat and pad all are. Runs that are adjacent on both sides are copied whole; where the source's adjacent
// axis is another than the result's, small blocks are transposed so that both sides move whole cache lines.
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
  /// Whether the source's neighbours lie along the rows of the plane and the result's along its columns.
  bool transposes() const { return rows_.from == 1 && columns_.from > 1 && columns_.to == 1; }
  void copyUnit(int64_t unit, const std::byte* from, std::byte* to) const;
  void copyBlock(const std::byte* from, std::byte* to, int64_t rows, int64_t columns) const;
  template <class T>
  void copyTyped(const std::byte* from, std::byte* to, int64_t rows, int64_t columns) const;

  llvm::SmallVector<Axis, 8> outer_;      ///< walked one by one
  Axis rows_{1, 0, 0}, columns_{1, 1, 1}; ///< the plane that the others number
  int64_t width_, fromOffset_, toOffset_, planes_ = 1;
  int64_t unitRows_ = 1, unitColumns_ = 1; ///< planes are cut into units, which threads share
  int64_t rowUnits_ = 0, columnUnits_ = 0; ///< of a plane
};

} // namespace dfc
