// countLaunches: the predicted times of a step by itself, feeds included, counted anew with the launches that
// its GPUs make.
//
// Costs of ops hold a launch each. Where several ops share one, each saves its part of the others' launches.
// A transfer that a kernel's reads replace takes no time, and its reader takes at least the time of the bytes
// on the links. The order on each queue stays as it is; the lower bounds are those of the new times.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/machine/machine.h"
#include "ir/plan/launch_plan.h"

namespace dfc {

/// Gives `schedule` the times with `launches`, and numbers its steps by their new starts, in the peer reads
/// of `launches`, too. `cost`: which the schedule was made with. Without launches and feeds of GPUs nothing
/// changes.
void countLaunches(Schedule& schedule, LaunchPlan& launches, const PlacedGraph& placed,
                   const Machine& machine, const CostModel& cost);

} // namespace dfc
