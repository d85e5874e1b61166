// taskGraphOf: a tensor graph as a TaskGraph, which planners see.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/tasks/task_graph.h"
#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

namespace dfc {

struct TensorTasks {
  TaskGraph graph;
  SideTable<OpId, TaskId> taskOf; ///< invalid for constants and unassigned parameters
};

/// `pins`: the device that an op must run on, invalid for none. Inputs run on the host. Constants and
/// parameters that no step assigns may have copies on every device at no cost, so they are no tasks. Links
/// are not contended.
TensorTasks taskGraphOf(const Graph& graph, const Machine& machine, const CostModel& cost,
                        const SideTable<OpId, DeviceId>& pins);

} // namespace dfc
