// simulate: plays a plan on the machine it was made for, without the machine: every queue runs its steps in
// order, waits for what they wait for, and transfers hold their links. What it gives is the predicted
// counterpart of a measured run.
#pragma once

#include "ir/trace.h"

namespace dfc {

struct Simulation {
  Trace trace;
  double makespan = 0;                ///< seconds
  SideTable<QueueId, double> busy;    ///< seconds that each queue works
  SideTable<LinkId, double> linkBusy; ///< seconds that each link carries something, summed over its slots
};

/// Durations are the plan's own (end - start of each step). Queues that contend for a link get it in the
/// order in which they ask; at one moment, in the order of the schedule.
Simulation simulate(const Executable& plan);

} // namespace dfc
