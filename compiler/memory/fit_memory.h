// fitMemory: a plan for devices whose memory the plain schedule exceeds. It schedules again with memory as a
// resource, as in resource-constrained list scheduling (Kolisch 1996): a step starts when its results have
// room, and waits for the last users of the values whose place they take. Those waits make the reuse safe in
// every execution, whatever its times; they follow the order of a run that was played through, so they close
// no cycle.
//
// Steps keep going as early as memory lets them, and a result takes the place that has been free for longest:
// with room for seven results the eighth waits for the copy of the first.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/plan/memory_plan.h"

namespace dfc {

struct FittedPlan {
  Schedule schedule;
  MemoryPlan memory;
};

/// `plain`: the schedule of `placed` that needs too much; `tooLarge`: what planMemory says of it. The fastest
/// fitting plan of those tried; where no order was found that keeps within the capacities, `tooLarge` with
/// the least that was found.
Result<FittedPlan> fitMemory(const PlacedGraph& placed, const Schedule& plain, const Machine& machine,
                             const CostModel& cost, Diagnostics tooLarge);

} // namespace dfc
