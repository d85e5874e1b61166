// RowSoftmax: softmax or logSoftmax of contiguous rows. softmax of f32 uses oneDNN (results below 2^-125 may
// be flushed to 0). RowMath computes the rest: rows whose maximum is NaN or infinite, for which oneDNN gives
// zeros beside a NaN; rows so long that sums in f32 would be inaccurate; f64, which oneDNN does not take; and
// logSoftmax, whose logarithm in oneDNN is inaccurate near 0, so that a probability may exceed 1. The result
// of a row never depends on other rows.
#pragma once

#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/shaped_primitives.h"

namespace dfc {

template <class T>
class RowSoftmax {
 public:
  RowSoftmax(int64_t length, bool logarithm);
  /// Before `run` is called with so many rows, by `slots` callers at the same time. Throws MachineError when
  /// oneDNN cannot be loaded.
  void prepare(int64_t rows, uint32_t slots);
  size_t scratchBytes(int64_t rows) const;
  /// `to` may be `from`. `scratch`: scratchBytes(rows), aligned to 64.
  void run(uint32_t slot, const T* from, T* to, int64_t rows, std::byte* scratch) const;

 private:
  static constexpr int64_t longest = 1 << 13;
  void runOnednn(uint32_t slot, const T* from, T* to, int64_t rows, std::byte* scratch) const;
  /// In place. `apart`: scratch of the same size for exponentials of which only the sums are used; null where
  /// there is no logarithm.
  void compute(T* values, T* apart, int64_t rows) const;

  int64_t length_;
  bool logarithm_, onednn_;
  RowMath<T> math_;
  ShapedPrimitives primitives_;
};

extern template class RowSoftmax<float>;
extern template class RowSoftmax<double>;

} // namespace dfc
