// Shared by the kernels of pools: rows of planes in their compute type, and the order of two elements.
#pragma once

#include "runtime/cpu/kernels/storage_converter.h"

namespace dfc {

/// Rows of `length` elements of type `type`, whose compute type is T.
template <class T>
class PlaneRows {
 public:
  PlaneRows(ElementType type, int64_t length)
      : converter_(type), rowBytes_(length * byteWidth(type)), length_(length) {}
  bool inPlace() const { return converter_.inPlace(); } ///< rows need no buffer
  /// Row number `row`: in place, or widened into `buffer`.
  const T* read(const std::byte* from, int64_t row, T* buffer) const {
    return converter_.read(from + row * rowBytes_, length_, buffer);
  }
  /// Where to compute row number `row`: in place, or in `buffer`; write() then stores it.
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
