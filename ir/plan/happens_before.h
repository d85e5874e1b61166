// HappensBefore: which steps are sure to have ended before a step starts, from queue order and waits alone.
// Built in O(steps x queues that have steps).
#pragma once

#include "ir/plan/step_clocks.h"

namespace dfc {

class HappensBefore {
 public:
  explicit HappensBefore(const Schedule& schedule);
  /// Whether `a` ends before `b` starts in every execution. False for a == b.
  bool ordered(StepId a, StepId b) const;
  /// How many steps of `queue`, from its first, end before `step` starts.
  uint32_t countBefore(StepId step, QueueId queue) const { return clocks_.count(step, queue); }

 private:
  const Schedule& schedule_;
  StepClocks clocks_;
};

} // namespace dfc
