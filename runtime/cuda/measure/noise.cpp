#include "runtime/cuda/measure/noise.h"

#include "ir/graph/literal.h"

#include <algorithm>
#include <vector>

namespace dfc::cuda {

DeviceBuffer noise(int ordinal, int64_t bytes) {
  DeviceBuffer buffer(ordinal, bytes, "a measurement");
  std::vector<uint16_t> values(static_cast<size_t>(std::min<int64_t>(bytes, int64_t{8} << 20) + 1) / 2);
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

DeviceBuffer indices(int ordinal, const TensorType& type, int64_t length) {
  Literal values(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    values.set(i, static_cast<double>(i * 7919 % std::max<int64_t>(length, 1))); // a prime: neighbours apart
  }
  DeviceBuffer buffer(ordinal, type.bytes(), "a measurement");
  check(cudaMemcpy(buffer.get(), values.bytes().data(), values.bytes().size(), cudaMemcpyDefault),
        "filling a measurement's memory");
  return buffer;
}

} // namespace dfc::cuda
