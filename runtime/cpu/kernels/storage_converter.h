// StorageConverter: elements between their storage type and the type T that kernels compute in. f16 and bf16
// are widened to f32 and narrowed again; other types are used in place.
#pragma once

#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <cstring>

namespace dfc {

template <class T>
class StorageConverter {
 public:
  /// `type`: of storage; its compute type is T.
  explicit StorageConverter(ElementType type) {
    if (computeTypeOf(type) != type) {
      widen_ = widenTile(type);
      narrow_ = narrowTile(type);
    }
  }
  bool inPlace() const { return widen_ == nullptr; } ///< no buffer is needed
  /// `count` elements as T: in place, or widened into `buffer`.
  const T* read(const std::byte* from, int64_t count, T* buffer) const {
    if (inPlace()) {
      return reinterpret_cast<const T*>(from);
    }
    const void* inputs[1] = {from};
    widen_(inputs, buffer, static_cast<size_t>(count));
    return buffer;
  }
  /// Where to compute the elements of `to`: in place, or in `buffer`; write() then stores them.
  T* place(std::byte* to, T* buffer) const { return inPlace() ? reinterpret_cast<T*>(to) : buffer; }
  void write(const T* values, std::byte* to, int64_t count) const {
    if (!inPlace()) {
      const void* inputs[1] = {values};
      narrow_(inputs, to, static_cast<size_t>(count));
    } else if (reinterpret_cast<const std::byte*>(values) != to) {
      std::memcpy(to, values, static_cast<size_t>(count) * sizeof(T));
    }
  }

 private:
  TileFunction widen_ = nullptr, narrow_ = nullptr;
};

} // namespace dfc
