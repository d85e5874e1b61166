// Lanes: elements as kernels compute with them, as T: where they are stored, or, for f16 and bf16, widened to
// f32 and narrowed again.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <cstring>

namespace dfc {

template <class T>
class Lanes {
 public:
  /// Of elements of `type`, whose lanes are T.
  explicit Lanes(ElementType type) {
    if (laneTypeOf(type) != type) {
      widen_ = widenTile(type);
      narrow_ = narrowTile(type);
    }
  }
  bool inPlace() const { return widen_ == nullptr; } ///< no room is needed
  /// Where `count` elements lie as lanes: where they are stored, or in `room`.
  const T* read(const std::byte* from, int64_t count, T* room) const {
    if (inPlace()) {
      return reinterpret_cast<const T*>(from);
    }
    const void* inputs[1] = {from};
    widen_(inputs, room, static_cast<size_t>(count));
    return room;
  }
  /// Where to make lanes for `to`: there, or in `room`; then write() them.
  T* place(std::byte* to, T* room) const { return inPlace() ? reinterpret_cast<T*>(to) : room; }
  void write(const T* lanes, std::byte* to, int64_t count) const {
    if (!inPlace()) {
      const void* inputs[1] = {lanes};
      narrow_(inputs, to, static_cast<size_t>(count));
    } else if (reinterpret_cast<const std::byte*>(lanes) != to) {
      std::memcpy(to, lanes, static_cast<size_t>(count) * sizeof(T));
    }
  }

 private:
  TileFunction widen_ = nullptr, narrow_ = nullptr;
};

} // namespace dfc
