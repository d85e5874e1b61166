// What the pools' kernels share: rows of planes as lanes (f16 and bf16 widened), and the order of two
// elements.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <cstring>

namespace dfc {

/// Rows of `length` elements of type `type`, as lanes T.
template <class T>
class LaneRows {
 public:
  LaneRows(ElementType type, int64_t length) : width_(byteWidth(type)), length_(length) {
    if (laneTypeOf(type) != type) {
      widen_ = widenTile(type);
      narrow_ = narrowTile(type);
    }
  }
  bool inPlace() const { return widen_ == nullptr; } ///< rows need no room
  /// Row number `row`: where it lies, or widened into `room`.
  const T* read(const std::byte* from, int64_t row, T* room) const {
    const std::byte* at = from + row * length_ * width_;
    if (widen_ == nullptr) {
      return reinterpret_cast<const T*>(at);
    }
    const void* inputs[1] = {at};
    widen_(inputs, room, static_cast<size_t>(length_));
    return room;
  }
  /// Where to make row number `row`: where it lies, or in `room`; then write() it.
  T* place(std::byte* to, int64_t row, T* room) const {
    return inPlace() ? reinterpret_cast<T*>(to + row * length_ * width_) : room;
  }
  void write(const T* lanes, std::byte* to, int64_t row) const {
    std::byte* at = to + row * length_ * width_;
    if (narrow_ == nullptr) {
      if (reinterpret_cast<const std::byte*>(lanes) != at) {
        std::memcpy(at, lanes, static_cast<size_t>(length_) * sizeof(T));
      }
      return;
    }
    const void* inputs[1] = {lanes};
    narrow_(inputs, at, static_cast<size_t>(length_));
  }

 private:
  int64_t width_, length_;
  TileFunction widen_ = nullptr, narrow_ = nullptr;
};

/// Whether `next` is larger than `best`, where NaN is larger than all and of two equal the first stays. For
/// an integer, x == x always.
template <class T>
inline bool beats(T next, T best) {
  return !(next <= best) && best == best; // NOLINT(misc-redundant-expression): false for NaN
}

} // namespace dfc
