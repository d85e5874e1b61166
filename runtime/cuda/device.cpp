#include "runtime/cuda/device.h"

#include "runtime/cuda/arena.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

class CudaQueue final : public Queue {
 public:
  CudaQueue(std::shared_ptr<Group> group, const Gpu& gpu) : group_(std::move(group)), gpu_(gpu) {}
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  ~CudaQueue() override { group_->drain(); }

  void load(const Executable& plan, Program program, ProgressBoard& board) override {
    id_ = program.queue;
    group_->add(plan, std::move(program), gpu_, board);
  }
  void launch(const Step& step) override { group_->launch(step); }
  // The GPU does not report which kernel it runs.
  OpId current() const override { return {}; }
  std::vector<Span> takeSpans() override { return group_->takeSpans(id_); }

 private:
  std::shared_ptr<Group> group_;
  const Gpu& gpu_; // of the group
  QueueId id_;
};

} // namespace

std::unique_ptr<Arena> CudaDevice::allocate(int64_t bytes) {
  return std::make_unique<CudaArena>(gpu_.name, gpu_.ordinal, bytes);
}

std::unique_ptr<Queue> CudaDevice::openQueue(QueueKind /*kind*/, uint32_t /*index*/) {
  return std::make_unique<CudaQueue>(group_, gpu_);
}

std::string CudaDevice::description() const {
  std::string text = fmt::format("{} ({})", gpu_.model, gpu_.architecture);
  for (const std::string& warning : group_->peers().warnings()) {
    text += "; warning: " + warning;
  }
  return text;
}

} // namespace dfc::cuda
