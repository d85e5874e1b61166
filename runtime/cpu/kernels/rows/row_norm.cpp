#include "runtime/cpu/kernels/rows/row_norm.h"

#include "runtime/cpu/onednn_library.h"

#include <llvm/ADT/SmallVector.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr int64_t longest = 1 << 13;
// Squares of distances up to largestDistance are finite; the underflow of squares of distances below 1e-19 is
// negligible beside leastEpsilon.
constexpr double largestDistance = 1e15, leastEpsilon = 1e-30;

/// Rows with elements from `size` on are scaled by `factor` first, so that neither a distance nor its square
/// overflows.
struct Large {
  double size, factor;
};
template <class T>
constexpr Large large{largestDistance, 0x1p-96};
template <>
constexpr Large large<double>{1e150, 0x1p-520};

} // namespace

template <class T>
RowNorm<T>::RowNorm(int64_t length, double epsilon, bool centred, bool biased)
    : length_(length), epsilon_(epsilon), centred_(centred), biased_(biased),
      onednn_(centred && sizeof(T) == sizeof(float) && length <= longest && epsilon >= leastEpsilon) {}

template <class T>
void RowNorm<T>::prepare(int64_t rows, uint32_t slots) {
  onednn_ = onednn_ && primitives_.add({rows, length_}, [&] {
    return onednnModule().make(onednn::LayerNormRequest{rows, length_, static_cast<float>(epsilon_), biased_},
                               slots);
  });
}

template <class T>
size_t RowNorm<T>::scratchBytes(int64_t rows) const {
  return onednn_ ? primitives_.scratchBytes() + 2 * static_cast<size_t>(rows * length_) * sizeof(T) : 0;
}

template <class T>
void RowNorm<T>::run(uint32_t slot, const T* from, T* to, int64_t rows, const T* scale, const T* bias,
                     std::byte* scratch) const {
  if (onednn_) {
    return runOnednn(slot, from, to, rows, scale, bias, scratch);
  }
  if (from != to) {
    std::copy_n(from, rows * length_, to);
  }
  for (int64_t row = 0; row < rows; ++row) {
    normalise(to + row * length_, scale, bias);
  }
}

template <class T>
void RowNorm<T>::runOnednn(uint32_t slot, const T* from, T* to, int64_t rows, const T* scale, const T* bias,
                           std::byte* scratch) const {
  T* const centred = reinterpret_cast<T*>(scratch + primitives_.scratchBytes());
  T* const kept = centred + rows * length_; // the rows that oneDNN would get wrong
  llvm::SmallVector<int64_t, 16> wild;
  for (int64_t row = 0; row < rows; ++row) {
    const T distance = math_.centre(from + row * length_, centred + row * length_, length_);
    if (!(distance <= static_cast<T>(largestDistance))) {
      std::copy_n(from + row * length_, length_, kept + static_cast<int64_t>(wild.size()) * length_);
      wild.push_back(row);
    }
  }
  const std::byte* operands[3] = {reinterpret_cast<const std::byte*>(centred),
                                  reinterpret_cast<const std::byte*>(scale),
                                  reinterpret_cast<const std::byte*>(bias)};
  primitives_.run({rows, length_}, slot, operands, reinterpret_cast<std::byte*>(to), scratch, "layerNorm");
  for (size_t i = 0; i < wild.size(); ++i) {
    T* const row = kept + static_cast<int64_t>(i) * length_;
    normalise(row, scale, bias);
    std::copy_n(row, length_, to + wild[i] * length_);
  }
}

template <class T>
void RowNorm<T>::normalise(T* row, const T* scale, const T* bias) const {
  double epsilon = epsilon_;
  if (math_.magnitude(row, length_) > static_cast<T>(large<T>.size)) {
    math_.multiply(row, length_, large<T>.factor);
    epsilon *= large<T>.factor * large<T>.factor;
  }
  math_.normalise(row, length_, math_.normalisationOf(row, length_, centred_, epsilon), scale, bias);
}

template class RowNorm<float>;
template class RowNorm<double>;

} // namespace dfc
