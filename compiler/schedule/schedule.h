// makeSchedule: puts every op that works on a queue in an order, with the waits between queues.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/schedule/schedule_problem.h"

namespace dfc {

/// Durations are those of `scheduleProblem`: of a step in the steady state. `countLaunches` gives the times
/// of a step by itself. Waits that queue order or other waits imply are left out (transitive reduction).
/// Bounds are proven for this placed graph and these durations: see `lowerBounds`. `forms`: as of
/// `scheduleProblem`.
Schedule makeSchedule(const PlacedGraph& placed, const Machine& machine, const CostModel& cost,
                      LaunchForms forms = {});

/// The predicted makespan of a placement in the steady state, in seconds, without the cost of waits between
/// queues of one device; the work of its feeds, if that takes longer.
/// It is at most the makespan of `makeSchedule`, which may put short ops on one queue to save such waits.
/// `least`: a lower bound on the makespan, 0 if unknown; the search ends when it is reached. `forms`: as of
/// `scheduleProblem`.
double predictedMakespan(const PlacedGraph& placed, const Machine& machine, const CostModel& cost,
                         double least = 0, LaunchForms forms = {});

/// The queues of a machine, in a fixed order: for each device its compute queues, then copyIn, copyOut and
/// peer for a gpu.
Table<QueueId, QueueRow> queuesOf(const Machine& machine);

struct CopyQueue {
  DeviceId device;
  QueueKind kind;
};
/// The queue that runs a copy over one hop: a copy queue of the gpu between host and gpu, the peer queue of
/// the source between two gpus, the compute queue of the destination where neither is a gpu.
CopyQueue copyQueueOf(DeviceId from, DeviceId to, const Machine& machine);

} // namespace dfc
