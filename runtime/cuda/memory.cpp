#include "runtime/cuda/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace dfc::cuda {

DeviceBuffer::DeviceBuffer(int ordinal, int64_t bytes, std::string_view what) : ordinal_(ordinal) {
  const OnDevice current(ordinal);
  void* base = nullptr;
  check(cudaMalloc(&base, static_cast<size_t>(std::max<int64_t>(bytes, 1))),
        fmt::format("allocating {} bytes for {}", bytes, what));
  base_ = static_cast<std::byte*>(base);
}

DeviceBuffer::~DeviceBuffer() { ignore(cudaFree(base_)); }

void DeviceBuffer::swap(DeviceBuffer& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(ordinal_, other.ordinal_);
}

PinnedBuffer::PinnedBuffer(int64_t bytes) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  void* base = nullptr;
  check(cudaHostAlloc(&base, size, cudaHostAllocPortable | cudaHostAllocMapped),
        fmt::format("pinning {} bytes of host memory", bytes));
  base_ = static_cast<std::byte*>(base);
  std::memset(base_, 0, size);
}

PinnedBuffer::~PinnedBuffer() { ignore(cudaFreeHost(base_)); }

HostPins::~HostPins() {
  for (const auto& range : ranges_) {
    ignore(cudaHostUnregister(reinterpret_cast<void*>(range.first)));
  }
}

bool HostPins::pin(std::byte* base, int64_t bytes) {
  constexpr uintptr_t page = 4096;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(base) / page * page;
  const uintptr_t end =
      (reinterpret_cast<uintptr_t>(base) + static_cast<uintptr_t>(bytes) + page - 1) / page * page;
  if (bytes == 0) {
    return true;
  }
  const auto after = ranges_.upper_bound(begin);
  if (after != ranges_.begin() && std::prev(after)->second >= end) {
    return true;
  }
  const cudaError_t code = cudaHostRegister(reinterpret_cast<void*>(begin), end - begin,
                                            cudaHostRegisterPortable | cudaHostRegisterMapped);
  if (code != cudaSuccess) {
    ignore(cudaGetLastError());
    return code == cudaErrorHostMemoryAlreadyRegistered; // another session shares the pages
  }
  ranges_[begin] = end;
  return true;
}

} // namespace dfc::cuda
