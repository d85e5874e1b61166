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

class NullDevice final : public Device {
 public:
  explicit NullDevice(std::function<std::unique_ptr<WorkMaker>()> makeWork)
      : makeWork_(std::move(makeWork)) {}
  std::unique_ptr<Arena> allocate(int64_t /*bytes*/) override { return std::make_unique<NullArena>(); }
  std::unique_ptr<Queue> openQueue(QueueKind /*kind*/, uint32_t /*index*/) override {
    return std::make_unique<WorkerQueue>(makeWork_());
  }

 private:
  std::function<std::unique_ptr<WorkMaker>()> makeWork_;
};

} // namespace

std::vector<std::unique_ptr<Device>>
openNullDevices(size_t count, const std::function<std::unique_ptr<WorkMaker>()>& makeWork) {
  std::vector<std::unique_ptr<Device>> opened;
  for (size_t i = 0; i < count; ++i) {
    opened.push_back(std::make_unique<NullDevice>(makeWork));
  }
  return opened;
}

} // namespace dfc
