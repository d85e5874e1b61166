#include "runtime/cpu/kernels/rows/row_softmax.h"

#include "runtime/cpu/onednn_library.h"

#include <llvm/ADT/SmallVector.h>

#include <algorithm>
#include <cmath>

namespace dfc {

template <class T>
RowSoftmax<T>::RowSoftmax(int64_t length, bool logarithm)
    : length_(length), logarithm_(logarithm),
      onednn_(!logarithm && sizeof(T) == sizeof(float) && length <= longest) {}

template <class T>
void RowSoftmax<T>::prepare(int64_t rows, uint32_t slots) {
  onednn_ = onednn_ && primitives_.add({rows, length_}, [&] {
    return onednnModule().make(onednn::SoftmaxRequest{rows, length_}, slots);
  });
}

// Scratch for the rows that oneDNN would get wrong, or for exponentials.
template <class T>
size_t RowSoftmax<T>::scratchBytes(int64_t rows) const {
  const auto elements = static_cast<size_t>(rows * length_);
  return primitives_.scratchBytes() + (onednn_ || logarithm_ ? elements * sizeof(T) : 0);
}

template <class T>
void RowSoftmax<T>::run(uint32_t slot, const T* from, T* to, int64_t rows, std::byte* scratch) const {
  if (onednn_) {
    return runOnednn(slot, from, to, rows, scratch);
  }
  if (from != to) {
    std::copy_n(from, rows * length_, to);
  }
  compute(to, reinterpret_cast<T*>(scratch), rows);
}

template <class T>
void RowSoftmax<T>::runOnednn(uint32_t slot, const T* from, T* to, int64_t rows, std::byte* scratch) const {
  T* const kept = reinterpret_cast<T*>(scratch + primitives_.scratchBytes());
  llvm::SmallVector<int64_t, 16> wild;
  for (int64_t row = 0; row < rows; ++row) {
    if (!std::isfinite(math_.largest(from + row * length_, length_))) {
      std::copy_n(from + row * length_, length_, kept + static_cast<int64_t>(wild.size()) * length_);
      wild.push_back(row);
    }
  }
  const auto* operand = reinterpret_cast<const std::byte*>(from);
  primitives_.run({rows, length_}, slot, &operand, reinterpret_cast<std::byte*>(to), scratch, "softmax");
  compute(kept, nullptr, static_cast<int64_t>(wild.size()));
  for (size_t i = 0; i < wild.size(); ++i) {
    std::copy_n(kept + static_cast<int64_t>(i) * length_, length_, to + wild[i] * length_);
  }
}

template <class T>
void RowSoftmax<T>::compute(T* values, T* apart, int64_t rows) const {
  for (int64_t row = 0; row < rows; ++row) {
    math_.shift(values + row * length_, length_);
  }
  T* const exponentials = logarithm_ ? apart : values;
  math_.exponentials(values, exponentials, rows * length_);
  for (int64_t row = 0; row < rows; ++row) {
    double sum = math_.sum(exponentials + row * length_, length_);
    if (logarithm_) {
      math_.logarithms(&sum, 1);
      math_.subtract(values + row * length_, length_, sum);
    } else {
      math_.divide(values + row * length_, length_, sum);
    }
  }
}

template class RowSoftmax<float>;
template class RowSoftmax<double>;

} // namespace dfc
