// RowNorm: layerNorm or rmsNorm of contiguous rows. layerNorm of f32 uses oneDNN, after the mean of each row
// has been subtracted: oneDNN sums in f32, which is inaccurate for a large mean. RowMath computes the rest:
// rows that are too long or whose squares leave the range of f32, rmsNorm and f64. The result of a row never
// depends on other rows.
#pragma once

#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/shaped_primitives.h"

namespace dfc {

template <class T>
class RowNorm {
 public:
  /// Each row is multiplied by a scale and, if `biased`, added to a bias. `centred`: layerNorm.
  RowNorm(int64_t length, double epsilon, bool centred, bool biased);
  /// Before `run` is called with so many rows, by `slots` callers at the same time. Throws MachineError when
  /// oneDNN cannot be loaded.
  void prepare(int64_t rows, uint32_t slots);
  size_t scratchBytes(int64_t rows) const;
  /// `to` may be `from`. `scale`, `bias`: as long as a row; no bias: null. `scratch`: scratchBytes(rows),
  /// aligned to 64.
  void run(uint32_t slot, const T* from, T* to, int64_t rows, const T* scale, const T* bias,
           std::byte* scratch) const;

 private:
  void runOnednn(uint32_t slot, const T* from, T* to, int64_t rows, const T* scale, const T* bias,
                 std::byte* scratch) const;
  void normalise(T* row, const T* scale, const T* bias) const;

  int64_t length_;
  double epsilon_;
  bool centred_, biased_, onednn_;
  RowMath<T> math_;
  ShapedPrimitives primitives_;
};

extern template class RowNorm<float>;
extern template class RowNorm<double>;

} // namespace dfc
