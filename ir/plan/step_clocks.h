// StepClocks: a vector clock for each step (Fidge 1988): for each queue, the number of its steps that end
// before the step starts in every execution. Queues without steps have no entry, because a machine may have
// many more queues than a plan uses.
#pragma once

#include "ir/plan/schedule.h"

namespace dfc {

class StepClocks {
 public:
  /// All at zero. Assumes that every step is on the list of its queue.
  explicit StepClocks(const Schedule& schedule);
  /// Records that `before` ends before `step` starts, and with it all steps that the clock of `before`
  /// covers.
  void join(StepId step, StepId before);
  /// How many steps of `queue`, from its first, end before `step` starts.
  uint32_t count(StepId step, QueueId queue) const;
  /// Numbers that the clocks of the schedule's steps come to.
  static uint64_t entries(const Schedule& schedule);

 private:
  const Schedule& schedule_;
  SideTable<QueueId, uint32_t> column_; ///< of queues with steps
  size_t columns_ = 0;
  std::vector<uint32_t> clocks_; ///< step-major
};

} // namespace dfc
