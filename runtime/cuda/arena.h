// A plan's memory on one GPU: one allocation, filled with NaN, so that a value read before it was written
// shows as it does on the emulated backend.
#pragma once

#include "runtime/backend.h"
#include "runtime/cuda/memory.h"

namespace dfc::cuda {

class CudaArena final : public Arena {
 public:
  /// `device`: its name, for messages. Throws MachineError.
  CudaArena(const std::string& device, int ordinal, int64_t bytes);
  std::byte* hostAddress() override { return nullptr; }
  void write(int64_t offset, std::span<const std::byte> bytes) override;
  void read(int64_t offset, std::span<std::byte> bytes) override;
  std::byte* base() const { return buffer_.get(); }
  int ordinal() const { return ordinal_; }

 private:
  std::string device_;
  int ordinal_;
  int64_t bytes_;
  DeviceBuffer buffer_;
};

} // namespace dfc::cuda
