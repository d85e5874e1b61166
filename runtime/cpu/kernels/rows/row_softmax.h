// RowSoftmax: softmax or logSoftmax of rows that lie one after the other. softmax of f32 is oneDNN's
// (what is less than 2^-125 may come as 0), but of rows whose maximum is no number or infinite (2.6 gives
// zeros beside a NaN) and of rows so long that its sums, in f32, would show. The rest is RowMath's: those,
// f64, for which oneDNN has nothing, and logSoftmax, whose logarithm in oneDNN errs by some 1e-6 where it
// should be next to 0, so that a probability of 1 may become more. What a row gets never depends on its
// neighbours.
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
  /// In place. `apart`: scratch for as many, of which only the sums are wanted; null where there is no
  /// logarithm.
  void compute(T* values, T* apart, int64_t rows) const;

  int64_t length_;
  bool logarithm_, onednn_;
  RowMath<T> math_;
  ShapedPrimitives primitives_;
};

extern template class RowSoftmax<float>;
extern template class RowSoftmax<double>;

} // namespace dfc
