#include "runtime/cuda/noise.h"

#include <algorithm>
#include <vector>

namespace dfc::cuda {

DeviceBuffer noise(int ordinal, int64_t bytes) {
  DeviceBuffer buffer(ordinal, bytes, "a measurement");
  std::vector<uint16_t> values(static_cast<size_t>(std::min<int64_t>(bytes, int64_t{8} << 20)) / 2);
  uint32_t state = 12345;
  for (uint16_t& value : values) {
    state = state * 1664525U + 1013904223U;
    value =
        static_cast<uint16_t>(0x3c00U | (state >> 22)); // of moderate size as f16, bf16, f32 and f64 alike
  }
  const auto piece = static_cast<int64_t>(values.size() * 2);
  for (int64_t at = 0; at < bytes; at += piece) {
    check(cudaMemcpy(buffer.get() + at, values.data(), static_cast<size_t>(std::min(piece, bytes - at)),
                     cudaMemcpyDefault),
          "filling a measurement's memory");
  }
  return buffer;
}

} // namespace dfc::cuda
