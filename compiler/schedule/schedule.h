// makeSchedule: puts every op that works on a queue in an order, with the waits between queues.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/schedule.h"

namespace dfc {

/// Durations: the cost model for computations, the machine's routes for transfers. Waits that queue order or
/// other waits imply are left out (transitive reduction). Bounds are proven for this placed graph: see
/// `lowerBounds`.
Schedule makeSchedule(const PlacedGraph& placed, const Machine& machine, const CostModel& cost);

/// The makespan of what `makeSchedule` gives, without its steps.
double predictedMakespan(const PlacedGraph& placed, const Machine& machine, const CostModel& cost);

/// The queues of a machine, in a fixed order: for each device its compute queues, then copyIn, copyOut and
/// peer for a gpu.
Table<QueueId, QueueRow> queuesOf(const Machine& machine);

} // namespace dfc
