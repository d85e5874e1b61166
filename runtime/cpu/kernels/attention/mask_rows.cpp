#include "runtime/cpu/kernels/attention/mask_rows.h"

namespace dfc {

MaskRows::MaskRows(const AttentionShape& shape, const TensorType& mask) : masks_(true) {
  const Shape scores = shape.scores();
  const size_t rank = scores.rank(), missing = rank - mask.shape.rank();
  llvm::SmallVector<int64_t, 8> strides(rank, 0);
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > missing;) {
    const int64_t extent = mask.shape[axis - missing];
    strides[axis] = extent == 1 ? 0 : stride;
    stride *= extent;
  }
  keyStride_ = strides[rank - 1];
  queryStride_ = strides[rank - 2];
  strides_.assign(strides.begin(), strides.end() - 2);
  dims_.assign(scores.dims().begin(), scores.dims().end() - 2);
}

template <class T>
void MaskRows::apply(const std::byte* mask, int64_t head, int64_t query, T* values, int64_t count,
                     T hidden) const {
  if (!masks_) {
    return;
  }
  int64_t offset = query * queryStride_;
  for (size_t axis = dims_.size(); axis-- > 0;) {
    offset += head % dims_[axis] * strides_[axis];
    head /= dims_[axis];
  }
  const std::byte* const row = mask + offset;
  for (int64_t key = 0; key < count; ++key) {
    values[key] = row[key * keyStride_] == std::byte{0} ? hidden : values[key];
  }
}

template void MaskRows::apply(const std::byte*, int64_t, int64_t, float*, int64_t, float) const;
template void MaskRows::apply(const std::byte*, int64_t, int64_t, double*, int64_t, double) const;

} // namespace dfc
