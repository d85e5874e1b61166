// WorkerGroup: devices whose queues are threads of the host, one WorkerQueue a program. The null, cpu and
// emulated backends differ in the memory of their devices and in what a command does there alone.
#pragma once

#include "runtime/worker_queue.h"

#include <functional>

namespace dfc {

/// What the devices of a group are, by their index. Lives as long as the group and keeps what its functions'
/// results use, such as the threads that kernels share.
struct WorkerDevices {
  std::function<std::unique_ptr<Arena>(size_t device, int64_t bytes)> allocate;
  std::function<std::unique_ptr<WorkMaker>(size_t device)> makeWork; ///< for one queue
};

class WorkerGroup final : public DeviceGroup {
 public:
  /// `marks`: of a profiler; null for none.
  explicit WorkerGroup(WorkerDevices devices, Marks* marks = nullptr)
      : devices_(std::move(devices)), options_{.marks = marks} {}
  std::unique_ptr<Arena> allocate(size_t device, int64_t bytes) override {
    return devices_.allocate(device, bytes);
  }
  bool checkFinite() override { return options_.checkFinite = true; }
  void load(const Executable& plan, std::vector<Program> programs, ProgressBoard& board) override;
  void launch(const Step& step) override;
  OpId current(QueueId queue) const override;
  std::vector<Span> takeSpans() override;

 private:
  WorkerDevices devices_;
  WorkerOptions options_;
  std::vector<std::unique_ptr<WorkerQueue>> queues_; // last: they go before the devices
};

} // namespace dfc
