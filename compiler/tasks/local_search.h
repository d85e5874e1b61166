// Local search: shortens a schedule by moving tasks between devices and in the order of placement, tasks of
// the critical path more often than others. Late acceptance hill climbing (Burke and Bykov, EJOR 258(1),
// 2017): a step is kept if it is no longer than the schedule of some steps ago; steps in the manner of large
// neighbourhood search (Shaw 1998) free several tasks and place them anew where they end first.
#pragma once

#include "compiler/tasks/candidates.h"

namespace dfc {

struct SearchLimits {
  uint64_t steps = 0; ///< trial schedules
  uint64_t seed = 1;  ///< equal seeds and steps give equal schedules
  double enough = 0;  ///< seconds: target makespan: the search stops when it is reached
  std::function<bool()> outOfTime;
};

/// The shortest schedule that was found, `start` if none is shorter.
TaskCandidate improved(const TaskGraph& graph, const TaskCandidate& start, const SearchLimits& limits);

} // namespace dfc
