// makeSchedule: puts every op that works on a queue in an order, with the waits between queues.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/plan/schedule.h"

namespace dfc {

/// Durations: the cost model for computations, the machine's routes for transfers. Waits that queue order or
/// other waits imply are left out (transitive reduction). Bounds are proven for this placed graph: see
/// `lowerBounds`.
Schedule makeSchedule(const PlacedGraph& placed, const Machine& machine, const CostModel& cost);

/// How long a placement takes as far as it can be told without what waits of one queue for another of its
/// device cost, which plans for this: at most the makespan of what `makeSchedule` gives, which may put short
/// ops on one queue to save them. `least`: seconds that no schedule of it can undercut, where they are known;
/// nothing shorter is looked for then.
double predictedMakespan(const PlacedGraph& placed, const Machine& machine, const CostModel& cost,
                         double least = 0);

/// The queues of a machine, in a fixed order: for each device its compute queues, then copyIn, copyOut and
/// peer for a gpu.
Table<QueueId, QueueRow> queuesOf(const Machine& machine);

struct CopyQueue {
  DeviceId device;
  QueueKind kind;
};
/// Which queue makes a copy over one hop: between the host and a gpu the gpu's, between two gpus the
/// source's; the target's compute queue where neither is a gpu.
CopyQueue copyQueueOf(DeviceId from, DeviceId to, const Machine& machine);

} // namespace dfc
