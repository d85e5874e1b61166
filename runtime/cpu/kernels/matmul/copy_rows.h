// copyRows: rows of a matrix between buffers of different strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dfc {

/// `rows` ranges of `bytes`, which begin `fromStride` bytes apart at the source and `toStride` at the target.
inline void copyRows(const std::byte* from, int64_t fromStride, std::byte* to, int64_t toStride,
                     int64_t bytes, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * toStride, from + row * fromStride, static_cast<size_t>(bytes));
  }
}

} // namespace dfc
