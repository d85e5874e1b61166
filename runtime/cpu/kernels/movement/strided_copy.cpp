#include "runtime/cpu/kernels/movement/strided_copy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace dfc {
namespace {

// A square of 8-byte elements this wide takes half of a small L1 cache on each side.
constexpr int64_t square = 32;

} // namespace

StridedCopy::StridedCopy(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> fromStrides,
                         llvm::ArrayRef<int64_t> toStrides, int64_t width, int64_t fromOffset,
                         int64_t toOffset)
    : width_(width), fromOffset_(fromOffset), toOffset_(toOffset) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const Axis axis{dims[i], fromStrides[i], toStrides[i]};
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
  // The plane's other axis: where the source's neighbours lie, if that is not along the columns; else the
  // next.
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
  constexpr int64_t unitElements = 32 * 1024;
  rowsPerUnit_ = std::max<int64_t>(1, unitElements / std::max<int64_t>(columns_.length, 1));
  rowsPerUnit_ = (rowsPerUnit_ + square - 1) / square * square;
  unitsPerPlane_ = (rows_.length + rowsPerUnit_ - 1) / rowsPerUnit_;
}

void StridedCopy::run(const std::byte* from, std::byte* to, ThreadPool& pool) const {
  if (planes_ * rows_.length * columns_.length == 0) {
    return;
  }
  const auto bytes = static_cast<double>(planes_ * rows_.length * columns_.length * width_);
  const int64_t units = planes_ * unitsPerPlane_;
  const uint32_t parts = partCount(pool, units, bytes * 0.2);
  pool.run(parts, [&](uint32_t part) {
    const UnitRange mine = unitsOfPart(units, parts, part);
    for (int64_t unit = mine.begin; unit < mine.end; ++unit) {
      copyUnit(unit, from, to);
    }
  });
}

void StridedCopy::copyUnit(int64_t unit, const std::byte* from, std::byte* to) const {
  const int64_t row = unit % unitsPerPlane_ * rowsPerUnit_;
  int64_t rest = unit / unitsPerPlane_;
  int64_t fromAt = fromOffset_ + row * rows_.from;
  int64_t toAt = toOffset_ + row * rows_.to;
  for (size_t i = outer_.size(); i-- > 0;) {
    const int64_t at = rest % outer_[i].length;
    rest /= outer_[i].length;
    fromAt += at * outer_[i].from;
    toAt += at * outer_[i].to;
  }
  copyRows(from + fromAt * width_, to + toAt * width_, std::min(rowsPerUnit_, rows_.length - row));
}

void StridedCopy::copyRows(const std::byte* from, std::byte* to, int64_t rows) const {
  if (columns_.from == 1 && columns_.to == 1) {
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(to + row * rows_.to * width_, from + row * rows_.from * width_,
                  static_cast<size_t>(columns_.length * width_));
    }
    return;
  }
  switch (width_) {
  case 1: return copyTyped<uint8_t>(from, to, rows);
  case 2: return copyTyped<uint16_t>(from, to, rows);
  case 4: return copyTyped<uint32_t>(from, to, rows);
  default: return copyTyped<uint64_t>(from, to, rows);
  }
}

template <class T>
void StridedCopy::copyTyped(const std::byte* fromBytes, std::byte* toBytes, int64_t rows) const {
  const T* from = reinterpret_cast<const T*>(fromBytes);
  T* to = reinterpret_cast<T*>(toBytes);
  if (columns_.from == 0 && columns_.to == 1) {
    for (int64_t row = 0; row < rows; ++row) {
      std::fill_n(to + row * rows_.to, columns_.length, from[row * rows_.from]);
    }
    return;
  }
  for (int64_t rowBegin = 0; rowBegin < rows; rowBegin += square) {
    const int64_t rowEnd = std::min(rows, rowBegin + square);
    for (int64_t begin = 0; begin < columns_.length; begin += square) {
      const int64_t end = std::min(columns_.length, begin + square);
      for (int64_t row = rowBegin; row < rowEnd; ++row) {
        const T* in = from + row * rows_.from;
        T* out = to + row * rows_.to;
        for (int64_t column = begin; column < end; ++column) {
          out[column * columns_.to] = in[column * columns_.from];
        }
      }
    }
  }
}

} // namespace dfc
