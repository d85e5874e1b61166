// HostArena: device memory in the memory of the host. `base` is for the queues of host devices alone;
// `hostAddress` is for other devices.
#pragma once

#include "runtime/backend.h"
#include "runtime/cpu/host_device.h"

#include <atomic>

namespace dfc {

class HostArena final : public Arena {
 public:
  /// Throws MachineError, naming the device, when the host has too little memory.
  HostArena(const std::string& device, int64_t bytes, HostDeviceTraits traits);
  HostArena(const HostArena&) = delete;
  HostArena& operator=(const HostArena&) = delete;
  ~HostArena() override;
  std::byte* hostAddress() override { return traits_.addressable ? base_ : nullptr; }
  int64_t bytes() const override { return bytes_; }
  void write(int64_t offset, std::span<const std::byte> bytes) override;
  void read(int64_t offset, std::span<std::byte> bytes) override;
  std::byte* base() const { return base_; }
  /// How often `write` was called.
  uint64_t writes() const { return writes_.load(std::memory_order_acquire); }

 private:
  void assertInside(int64_t offset, size_t bytes) const;
  std::atomic<uint64_t> writes_{0};
  std::byte* base_ = nullptr;
  int64_t bytes_;
  HostDeviceTraits traits_;
};

} // namespace dfc
