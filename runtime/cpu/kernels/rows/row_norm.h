// RowNorm: layerNorm or rmsNorm of rows that lie one after the other. layerNorm of f32 is oneDNN's,
// of rows whose mean is subtracted first: its sums are f32 (2.6 errs by 0.0016 at a mean of 10,000). RowMath
// makes what is left: rows out of the range of such sums or too long for them, rmsNorm and f64. What a row
// gets never depends on its neighbours.
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
