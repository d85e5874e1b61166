// simulate: plays a plan on the machine it was made for, without the machine: every queue runs its steps in
// order, waits for what they wait for, transfers hold their links, and what runs at once on the compute
// queues of one device shares it. What it gives is the predicted counterpart of a measured run.
#pragma once

#include "ir/base/visibility.h"
#include "ir/plan/trace.h"

namespace DFC_PUBLIC dfc {

/// A predicted step.
struct Simulation {
  Trace trace;                     ///< a span for each step of the schedule
  double makespan = 0;             ///< seconds from the begin of the step, which devices may take a while to
                                   ///< answer (DeviceRow::stepOverheadSeconds), to the last end
  SideTable<QueueId, double> busy; ///< seconds that each queue works
  SideTable<LinkId, double> linkBusy; ///< seconds that each link carries something, summed over its slots
};

/// Durations are the plan's own (`StepRow::alone`), stretched while ops that run at once on a device
/// utilisation more than all of it (compiler/schedule/processor_sharing.h). Queues that contend for a link
/// get it in the order in which they ask; at one moment, in the order of the schedule.
Simulation simulate(const Executable& plan);

} // namespace dfc
