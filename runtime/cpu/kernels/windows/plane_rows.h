// What the pools' kernels share: rows of planes as lanes (f16 and bf16 widened), and the order of two
// elements.
#pragma once

#include "runtime/cpu/kernels/storage_converter.h"

namespace dfc {

/// Rows of `length` elements of type `type`, as lanes T.
template <class T>
class PlaneRows {
 public:
  PlaneRows(ElementType type, int64_t length)
      : converter_(type), rowBytes_(length * byteWidth(type)), length_(length) {}
  bool inPlace() const { return converter_.inPlace(); } ///< rows need no buffer
  /// Row number `row`: where it lies, or widened into `room`.
  const T* read(const std::byte* from, int64_t row, T* buffer) const {
    return converter_.read(from + row * rowBytes_, length_, buffer);
  }
  /// Where to make row number `row`: where it lies, or in `room`; then write() it.
  T* place(std::byte* to, int64_t row, T* buffer) const {
    return converter_.place(to + row * rowBytes_, buffer);
  }
  void write(const T* values, std::byte* to, int64_t row) const {
    converter_.write(values, to + row * rowBytes_, length_);
  }

 private:
  StorageConverter<T> converter_;
  int64_t rowBytes_, length_;
};

/// Whether `next` is larger than `best`, where NaN is larger than all and of two equal the first stays. For
/// an integer, x == x always.
template <class T>
inline bool beats(T next, T best) {
  return !(next <= best) && best == best; // NOLINT(misc-redundant-expression): false for NaN
}

} // namespace dfc
