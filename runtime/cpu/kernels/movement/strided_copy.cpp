#include "runtime/cpu/kernels/movement/strided_copy.h"

#include "runtime/cpu/kernels/movement/transpose_words.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/onednn_library.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dfc {
namespace {

// A block of this many rows and columns is transposed in a buffer: the source is read and the result is
// written in whole cache lines, so that no line is loaded twice, whatever the strides.
constexpr int64_t blockRows = 16, blockColumns = 64;

// from: `columns` ranges of `rows` contiguous elements, `fromStride` apart; to: `rows` ranges of `columns`.
template <class T>
void transposeBlock(const T* from, int64_t fromStride, T* to, int64_t toStride, int64_t rows,
                    int64_t columns) {
  T block[blockRows][blockColumns];
  for (int64_t column = 0; column < columns; ++column) {
    const T* run = from + column * fromStride;
    for (int64_t row = 0; row < rows; ++row) {
      block[row][column] = run[row];
    }
  }
  for (int64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * toStride, block[row], static_cast<size_t>(columns) * sizeof(T));
  }
}

} // namespace

StridedCopy::StridedCopy(ThreadPool& pool, const StridedLayout& layout)
    : width_(layout.width), fromOffset_(layout.fromOffset), toOffset_(layout.toOffset), pool_(pool) {
  chooseAxes(layout);
  cutIntoTasks();
  const auto bytes = static_cast<double>(planes_ * rows_.length * columns_.length * width_);
  parts_ = partCount(pool, planes_ * rowTasks_ * columnTasks_, bytes * 0.2);
  onednn_ = transposes() && addTransposes();
}

void StridedCopy::chooseAxes(const StridedLayout& layout) {
  for (size_t i = 0; i < layout.dims.size(); ++i) {
    const Axis axis{layout.dims[i], layout.from[i], layout.to[i]};
    if (axis.length == 1) {
      continue;
    }
    Axis* before = outer_.empty() ? nullptr : &outer_.back();
    if (before != nullptr && before->from == axis.from * axis.length && before->to == axis.to * axis.length) {
      *before = {before->length * axis.length, axis.from, axis.to};
    } else {
      outer_.push_back(axis);
    }
  }
  if (!outer_.empty()) {
    columns_ = outer_.pop_back_val();
  }
  // The other axis of the plane: the contiguous axis of the source, unless it is the columns; else the next.
  if (!outer_.empty()) {
    auto* found = std::find_if(outer_.begin(), outer_.end(), [](const Axis& axis) { return axis.from == 1; });
    if (found == outer_.end() || columns_.from <= 1) {
      found = outer_.end() - 1;
    }
    rows_ = *found;
    outer_.erase(found);
  }
  for (const Axis& axis : outer_) {
    planes_ *= axis.length;
  }
}

void StridedCopy::cutIntoTasks() {
  // A task of a transpose is tall and narrow, so that it reads contiguous cache lines.
  constexpr int64_t tallRows = 512, taskElements = 32 * 1024;
  const int64_t columns = std::max<int64_t>(columns_.length, 1);
  taskColumns_ = transposes() ? blockColumns : std::min(columns, taskElements);
  taskRows_ = transposes() ? tallRows : std::max<int64_t>(1, taskElements / taskColumns_);
  rowTasks_ = (rows_.length + taskRows_ - 1) / taskRows_;
  columnTasks_ = (columns_.length + taskColumns_ - 1) / taskColumns_;
}

// Primitives for whole tasks and for the smaller ones at the ends of rows and columns. False where oneDNN has
// none, or where a call would not pay.
bool StridedCopy::addTransposes() {
  constexpr int64_t worthACall = 4096;
  if (width_ >= 4 || rows_.length * columns_.length < worthACall || planes_ == 0) {
    return false;
  }
  for (const int64_t rows : {std::min(taskRows_, rows_.length), rows_.length - (rowTasks_ - 1) * taskRows_}) {
    for (const int64_t columns :
         {std::min(taskColumns_, columns_.length), columns_.length - (columnTasks_ - 1) * taskColumns_}) {
      if (!primitives_.add({rows, columns}, [&] {
            return onednnModule().make(
                onednn::TransposeRequest{width_, rows, columns, columns_.from, rows_.to}, parts_);
          })) {
        return false;
      }
    }
  }
  return true;
}

void StridedCopy::run(const std::byte* from, std::byte* to) const {
  const int64_t tasks = planes_ * rowTasks_ * columnTasks_;
  pool_.run(parts_, [&](uint32_t part) {
    const TaskRange mine = tasksOfPart(tasks, parts_, part);
    for (int64_t task = mine.begin; task < mine.end; ++task) {
      copyTask(part, task, from, to);
    }
  });
}

void StridedCopy::copyTask(uint32_t slot, int64_t task, const std::byte* from, std::byte* to) const {
  const int64_t row = task % rowTasks_ * taskRows_;
  const int64_t column = task / rowTasks_ % columnTasks_ * taskColumns_;
  int64_t rest = task / rowTasks_ / columnTasks_;
  int64_t fromAt = fromOffset_ + row * rows_.from + column * columns_.from;
  int64_t toAt = toOffset_ + row * rows_.to + column * columns_.to;
  for (size_t i = outer_.size(); i-- > 0;) {
    const int64_t at = rest % outer_[i].length;
    rest /= outer_[i].length;
    fromAt += at * outer_[i].from;
    toAt += at * outer_[i].to;
  }
  from += fromAt * width_;
  to += toAt * width_;
  const int64_t rows = std::min(taskRows_, rows_.length - row),
                columns = std::min(taskColumns_, columns_.length - column);
  if (onednn_) {
    primitives_.run({rows, columns}, slot, &from, to, threadScratch(primitives_.scratchBytes()), "transpose");
  } else {
    copyBlock(from, to, rows, columns);
  }
}

void StridedCopy::copyBlock(const std::byte* from, std::byte* to, int64_t rows, int64_t columns) const {
  if (columns_.from == 1 && columns_.to == 1) {
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(to + row * rows_.to * width_, from + row * rows_.from * width_,
                  static_cast<size_t>(columns * width_));
    }
    return;
  }
  if (width_ == sizeof(uint32_t) && transposes()) {
    return transposeWords(reinterpret_cast<const uint32_t*>(from), reinterpret_cast<uint32_t*>(to),
                          {rows, columns, columns_.from, rows_.to});
  }
  switch (width_) {
  case 1: return copyTyped<uint8_t>(from, to, rows, columns);
  case 2: return copyTyped<uint16_t>(from, to, rows, columns);
  case 4: return copyTyped<uint32_t>(from, to, rows, columns);
  default: return copyTyped<uint64_t>(from, to, rows, columns);
  }
}

template <class T>
void StridedCopy::copyTyped(const std::byte* fromBytes, std::byte* toBytes, int64_t rows,
                            int64_t columns) const {
  const T* from = reinterpret_cast<const T*>(fromBytes);
  T* to = reinterpret_cast<T*>(toBytes);
  for (int64_t row = 0; row < rows; row += transposes() ? blockRows : 1) {
    const T* in = from + row * rows_.from;
    T* out = to + row * rows_.to;
    if (transposes()) {
      transposeBlock(in, columns_.from, out, rows_.to, std::min(blockRows, rows - row), columns);
    } else if (columns_.from == 0 && columns_.to == 1) {
      std::fill_n(out, columns, *in);
    } else {
      for (int64_t column = 0; column < columns; ++column) {
        out[column * columns_.to] = in[column * columns_.from];
      }
    }
  }
}

} // namespace dfc
