// StridedCopy: a copy between strided layouts, which is what transpose, slice, split, broadcast, tile, concat
// and pad are. Ranges that are contiguous on both sides are copied whole. Where source and result have
// different contiguous axes, matrices are transposed: elements of 4 bytes by transposeWords, shorter ones by
// oneDNN's reorder, or by our own blocks where a call would not pay, and for elements of 8 bytes.
#pragma once

#include "runtime/cpu/kernels/shaped_primitives.h"
#include "runtime/cpu/thread_pool.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include <cstddef>

namespace dfc {

/// `dims`, outermost first; strides and offsets in elements of `width` bytes (1, 2, 4 or 8).
struct StridedLayout {
  llvm::SmallVector<int64_t, 8> dims, from, to;
  int64_t width = 1, fromOffset = 0, toOffset = 0;
};

class StridedCopy {
 public:
  /// `pool` must outlive it. Throws MachineError when oneDNN is needed and cannot be loaded.
  StridedCopy(ThreadPool& pool, const StridedLayout& layout);
  void run(const std::byte* from, std::byte* to) const;

 private:
  struct Axis {
    int64_t length, from, to;
  };
  /// Whether the source is contiguous along the rows of the plane and the result along its columns.
  bool transposes() const { return rows_.from == 1 && columns_.from > 1 && columns_.to == 1; }
  void chooseAxes(const StridedLayout& layout);
  void cutIntoTasks();
  bool addTransposes();
  void copyTask(uint32_t slot, int64_t task, const std::byte* from, std::byte* to) const;
  void copyBlock(const std::byte* from, std::byte* to, int64_t rows, int64_t columns) const;
  template <class T>
  void copyTyped(const std::byte* from, std::byte* to, int64_t rows, int64_t columns) const;

  llvm::SmallVector<Axis, 8> outer_;      ///< walked one by one
  Axis rows_{1, 0, 0}, columns_{1, 1, 1}; ///< the plane; outer_ walks the planes
  int64_t width_, fromOffset_, toOffset_, planes_ = 1;
  int64_t taskRows_ = 1, taskColumns_ = 1; ///< of a task
  int64_t rowTasks_ = 0, columnTasks_ = 0; ///< in a plane
  ThreadPool& pool_;
  uint32_t parts_ = 1;
  bool onednn_ = false;         ///< whether oneDNN transposes
  ShapedPrimitives primitives_; ///< of tasks of these rows and columns
};

} // namespace dfc
