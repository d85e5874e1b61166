// Rows of a matrix from one place to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dfc {

/// `rows` runs of `bytes`, whose beginnings lie `fromStride` bytes apart, to where they lie `toStride` apart.
inline void copyRows(const std::byte* from, int64_t fromStride, std::byte* to, int64_t toStride,
                     int64_t bytes, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * toStride, from + row * fromStride, static_cast<size_t>(bytes));
  }
}

} // namespace dfc
