// AdmissionControl: holds a task back until its results have free memory on their device and allocating it
// cannot lead to a deadlock. Deadlock is avoided by the banker's algorithm (Dijkstra 1965, EWD 108), with the
// low-peak order as the safe sequence: a task may start before its turn in that order only if the tasks
// that have not started still fit when they run one after the other in that order. The next task of the order
// can therefore start at the latest when no task runs, unless fragmentation prevents it.
#pragma once

#include "compiler/memory/free_ranges.h"
#include "compiler/memory/low_peak_order.h"
#include "compiler/memory/profile.h"

namespace dfc {

/// A reuse of memory: task `after` allocates bytes of buffer `before`, and so waits for the end of all users
/// of that buffer.
struct Reuse {
  BufferId before;
  uint32_t after;
};

class AdmissionControl : public AdmissionPolicy {
 public:
  /// `available`: bytes for buffers, by device; at least the peak of `lowPeak`. Where `lowPeak` has no
  /// buffers, only its orderings hold tasks back. Without a rule of fit, bytes are counted, and buffers get
  /// no offsets.
  AdmissionControl(const LowPeakOrder& lowPeak, const SideTable<DeviceId, int64_t>& available,
                   std::optional<FitRule> rule);

  bool start(uint32_t task) override;
  void end(uint32_t task) override;
  uint32_t next() const override;

  const std::vector<Reuse>& reuses() const { return reuses_; }
  /// Of each allocated buffer, in bytes from the first byte behind resident values.
  const SideTable<BufferId, int64_t>& offsets() const { return offsets_; }

 private:
  struct Change {
    DeviceId device;
    uint32_t first, last;
    int64_t bytes;
  };
  /// A state of the profiles in which a task was found unsafe.
  struct Refusal {
    uint32_t starts = 0, turn = 0;
    friend bool operator==(const Refusal&, const Refusal&) = default;
  };
  bool isRefusedAnyway(uint32_t task) const;
  int64_t bytesOf(uint32_t task) const;
  DeviceId deviceOf(uint32_t task) const;
  bool isSafe(uint32_t task);
  void applyTentatively(uint32_t task);
  void shorten(BufferId buffer);
  void change(DeviceId device, uint32_t first, uint32_t last, int64_t bytes);
  bool allocate(uint32_t task);
  bool place(llvm::ArrayRef<BufferId> allocates, uint32_t task, FreeRanges& ranges);
  bool place(BufferId buffer, uint32_t task, FreeRanges& ranges);

  const LowPeakOrder& lowPeak_;
  const SideTable<DeviceId, int64_t>& available_;
  std::optional<FitRule> rule_;
  std::vector<uint32_t> turn_;             // by task: its index in the low-peak order
  std::vector<char> started_;              // by task
  std::vector<uint32_t> unmetConstraints_; // by task: number of its orderings whose first task has not ended
  std::vector<llvm::SmallVector<uint32_t, 2>> holds_;
  uint32_t nextTurn_ = 0;                   // smallest turn whose task has not started
  SideTable<BufferId, uint32_t> usersLeft_; // users that have not ended
  /// Length of the prefix of `users` that ends with the last unstarted one.
  SideTable<BufferId, uint32_t> usersToCome_;
  SideTable<BufferId, int64_t> offsets_;
  SideTable<DeviceId, std::optional<MemoryProfile>> profile_; // bytes held at each turn to come
  SideTable<DeviceId, std::optional<FreeRanges>> freeRanges_;
  SideTable<DeviceId, int64_t> freeBytes_; // of all ranges together
  SideTable<DeviceId, uint32_t> starts_;   // that changed the device's profile
  std::vector<Refusal> refusals_;          // by task: the last
  std::vector<Change> changes_;            // of the latest call of `start`; undone when it refuses the task
  std::vector<std::pair<BufferId, uint32_t>> shortened_;
  std::vector<Reuse> reuses_;
  uint32_t clock_ = 0;
};

} // namespace dfc
