// homesOf: which device of the mesh runs each op that runs on one. Ops that exchange tensors run on the same;
// such groups go to the device with the least bytes so far, the largest first (longest processing time first:
// Graham 1969, "Bounds on Multiprocessing Timing Anomalies").
#pragma once

#include "compiler/split/split_plan.h"

namespace dfc {

/// Indices of the mesh's devices; 0 for ops that do not run on one, and inputs.
SideTable<OpId, size_t> homesOf(const Graph& graph, const SplitPlan& plan);

} // namespace dfc
