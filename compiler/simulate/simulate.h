// simulate: a discrete-event simulation of a plan on the machine that it was made for. Queues run their steps
// in order and keep the waits, transfers hold their links, and ops on several compute queues of one device
// share it. The result is the predicted counterpart of a measured trace.
#pragma once

#include "ir/base/visibility.h"
#include "ir/plan/trace.h"

namespace DFC_PUBLIC dfc {

/// A predicted step.
struct Simulation {
  Trace trace;                     ///< a span for each step of the schedule
  double makespan = 0;             ///< seconds from the start of the step, which devices may take a while to
                                   ///< answer (DeviceRow::stepOverheadSeconds), to the last end
  SideTable<QueueId, double> busy; ///< seconds that each queue works
  SideTable<LinkId, double> linkBusy; ///< seconds that each link carries something, summed over its slots
};

/// Durations are the plan's own (`StepRow::alone`), and longer while the ops that run at once on a device use
/// more than all of it (processor sharing). Queues that contend for a link get it in the
/// order in which they ask; at one moment, in the order of the schedule.
Simulation simulate(const Executable& plan);

/// @cond INTERNAL
struct PlacedGraph;
struct Schedule;
/// The same of a schedule before it is sealed, on its machine.
Simulation simulate(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine);
/// @endcond

} // namespace dfc
