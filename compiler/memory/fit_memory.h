// fitMemory: a schedule and memory plan for devices whose memory the unconstrained schedule exceeds. List
// scheduling runs again with memory as a resource (resource-constrained scheduling, Kolisch 1996): a task
// starts when its results have free memory, and waits for the last users of the values whose bytes it reuses.
// These waits make the reuse safe whatever the actual durations. They follow the order of a simulated run
// that came to its end, so they close no cycle.
//
// Tasks start as early as memory permits, and a result is allocated in the range that has been free for
// longest: with memory for seven results, the eighth waits for the copy of the first.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/plan/memory_plan.h"

namespace dfc {

struct FittedPlan {
  Schedule schedule;
  MemoryPlan memory;
};

/// `unconstrained`: the unconstrained schedule of `placed`; `capacityErrors`: planMemory's errors for it.
/// Returns the fastest fitting plan of those tried. Where no order keeps within the capacities, returns
/// `capacityErrors` with the smallest peak that was found.
Result<FittedPlan> fitMemory(const PlacedGraph& placed, const Schedule& unconstrained, const Machine& machine,
                             const CostModel& cost, Diagnostics capacityErrors);

} // namespace dfc
