// Memory that CUDA uses, each kind with one owner: device buffers, pinned host buffers, and ranges of other
// owners' host memory, pinned in place.
#pragma once

#include "runtime/cuda/check.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace dfc::cuda {

/// Bytes of one GPU's memory, 256-byte aligned; at least one byte is allocated. Throws MachineError.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(int ordinal, int64_t bytes, std::string_view what);
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer();
  std::byte* get() const { return base_; }

 private:
  void swap(DeviceBuffer& other) noexcept;
  std::byte* base_ = nullptr;
  int ordinal_ = 0;
};

/// Host memory that every GPU of the process reads and writes at the same address. Zeroed.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(int64_t bytes);
  PinnedBuffer(PinnedBuffer&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    std::swap(base_, other.base_);
    return *this;
  }
  ~PinnedBuffer();
  std::byte* get() const { return base_; }

 private:
  std::byte* base_ = nullptr;
};

/// Pins ranges of memory of other owners, which outlives this object. A range is pinned once, in whole pages.
/// Where the system refuses (a limit on locked memory), `pin` returns false and the range stays pageable:
/// copies from and to it still work, but slower and not while capturing.
class HostPins {
 public:
  HostPins() = default;
  HostPins(const HostPins&) = delete;
  HostPins& operator=(const HostPins&) = delete;
  ~HostPins();
  bool pin(std::byte* base, int64_t bytes);

 private:
  std::map<uintptr_t, uintptr_t> ranges_; // begin -> end of each pinned range
};

} // namespace dfc::cuda
