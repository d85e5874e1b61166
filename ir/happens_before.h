// HappensBefore: which steps are sure to have ended before a step starts, from queue order and waits alone.
// One vector clock a step (Lamport 1978; Fidge 1988): for each queue, how many of its steps precede. Built in
// O(steps x queues that have steps).
#pragma once

#include "ir/busy_queues.h"

namespace dfc {

class HappensBefore {
 public:
  explicit HappensBefore(const Schedule& schedule);
  /// Whether `a` ends before `b` starts in every execution. False for a == b.
  bool ordered(StepId a, StepId b) const;
  /// How many steps of `queue`, from its first, end before `step` starts.
  uint32_t countBefore(StepId step, QueueId queue) const;

 private:
  const Schedule& schedule_;
  BusyQueues busy_;
  std::vector<uint32_t> clocks_; // step-major
};

} // namespace dfc
