#include "runtime/cuda/arena.h"

#include <fmt/format.h>

namespace dfc::cuda {

CudaArena::CudaArena(const std::string& device, int ordinal, int64_t bytes)
    : device_(device), ordinal_(ordinal), bytes_(bytes), buffer_(ordinal, bytes, device + "'s arena") {
  const OnDevice current(ordinal);
  check(cudaMemset(buffer_.get(), 0xFF, static_cast<size_t>(bytes)), device + ": filling the arena");
  check(cudaDeviceSynchronize(), device + ": filling the arena");
}

void CudaArena::write(int64_t offset, std::span<const std::byte> bytes) {
  DFC_ASSERT(offset >= 0 && offset + static_cast<int64_t>(bytes.size()) <= bytes_, "write inside the arena");
  check(cudaMemcpy(buffer_.get() + offset, bytes.data(), bytes.size(), cudaMemcpyDefault),
        device_ + ": writing to the arena");
}

void CudaArena::read(int64_t offset, std::span<std::byte> bytes) {
  DFC_ASSERT(offset >= 0 && offset + static_cast<int64_t>(bytes.size()) <= bytes_, "read inside the arena");
  check(cudaMemcpy(bytes.data(), buffer_.get() + offset, bytes.size(), cudaMemcpyDefault),
        device_ + ": reading from the arena");
}

} // namespace dfc::cuda
