#include "runtime/null/null_device.h"

#include <algorithm>

namespace dfc {
namespace {

class NullArena final : public Arena {
 public:
  std::byte* hostAddress() override { return nullptr; }
  void write(int64_t /*offset*/, std::span<const std::byte> /*bytes*/) override {}
  void read(int64_t /*offset*/, std::span<std::byte> bytes) override {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
  }
};

} // namespace

std::unique_ptr<DeviceGroup> openNullDevices(const std::function<std::unique_ptr<WorkMaker>()>& makeWork) {
  return std::make_unique<WorkerGroup>(
      WorkerDevices{[](size_t /*device*/, int64_t /*bytes*/) { return std::make_unique<NullArena>(); },
                    [makeWork](size_t /*device*/) { return makeWork(); }});
}

} // namespace dfc
