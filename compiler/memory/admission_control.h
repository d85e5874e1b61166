// AdmissionControl: holds a task back until its results have room on their device and taking it cannot end in
// a deadlock. The second is the banker's algorithm (Dijkstra 1965, EWD 108) with a minimum-memory order as
// the customers' needs: a task may start before its turn only if the tasks that have not started still fit
// when they then go one after the other in that order. So the next task of the order can start at the latest
// when nothing runs any more, but for memory that is cut into pieces.
#pragma once

#include "compiler/memory/free_ranges.h"
#include "compiler/memory/minimum_memory_order.h"
#include "compiler/memory/profile.h"

namespace dfc {

/// A task whose results take the place of a buffer, and so waits for the end of all its users.
struct Reuse {
  BufferId before;
  uint32_t after;
};

class AdmissionControl : public AdmissionPolicy {
 public:
  /// `available`: bytes for buffers, by device; the minimum-memory order needs no more. Without buffers in
  /// its requirements the gate only keeps its orderings.
  AdmissionControl(const MinimumMemoryOrder& minimal, const SideTable<DeviceId, int64_t>& available,
                   FitRule rule);

  bool start(uint32_t task) override;
  void end(uint32_t task) override;
  uint32_t next() const override;

  const std::vector<Reuse>& reuses() const { return reuses_; }
  /// Of each buffer that was made, from the beginning of the room.
  const SideTable<BufferId, int64_t>& offsets() const { return offsets_; }

 private:
  struct Change {
    DeviceId device;
    uint32_t first, last;
    int64_t bytes;
  };
  bool isSafe(uint32_t task);
  void foresee(uint32_t task);
  void shorten(BufferId buffer);
  void change(DeviceId device, uint32_t first, uint32_t last, int64_t bytes);
  bool findSpace(uint32_t task);
  bool place(BufferId buffer, uint32_t task, FreeRanges& ranges);

  const MinimumMemoryOrder& minimal_;
  const SideTable<DeviceId, int64_t>& available_;
  FitRule rule_;
  std::vector<uint32_t> turn_;   // by task
  std::vector<char> started_;    // by task
  std::vector<uint32_t> heldBy_; // by task: orderings whose first task has not ended
  std::vector<llvm::SmallVector<uint32_t, 2>> holds_;
  uint32_t nextTurn_ = 0;                     // the first whose task has not started
  SideTable<BufferId, uint32_t> usersLeft_;   // not ended
  SideTable<BufferId, uint32_t> usersToCome_; // by turn, up to the last that has not started
  SideTable<BufferId, int64_t> offsets_;
  SideTable<DeviceId, std::optional<MemoryProfile>> profile_; // of the turns to come
  SideTable<DeviceId, std::optional<FreeRanges>> freeRanges_;
  std::vector<Change> changes_; // by the task at hand, to take back
  std::vector<std::pair<BufferId, uint32_t>> shortened_;
  std::vector<Reuse> reuses_;
  uint32_t moment_ = 0;
};

} // namespace dfc
