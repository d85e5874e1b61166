// The device and queue classes of the backend contract: thin, all calls go to the group.
#pragma once

#include "runtime/cuda/group.h"

namespace dfc::cuda {

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<Group> group, const Gpu& gpu) : group_(std::move(group)), gpu_(gpu) {}
  std::unique_ptr<Arena> allocate(int64_t bytes) override;
  std::unique_ptr<Queue> openQueue(QueueKind kind, uint32_t index) override;
  std::string description() const override;

 private:
  std::shared_ptr<Group> group_;
  const Gpu& gpu_; // of the group
};

} // namespace dfc::cuda
