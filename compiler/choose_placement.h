// choosePlacement: the device of each op. Candidates are the graph as it is, placed by a policy, the graph
// cut into parts (stage `split`), and splits along several axes (grids.h). Each is made to fit into memory
// (fit_candidate.h); the one with the fewest planned seconds is chosen, a split only for a gain of 2 %. For
// small graphs, or with a limit in time or steps, a local search goes on from it (search_placement.h).
#pragma once

#include "compiler/compile.h"
#include "ir/plan/placement.h"

namespace dfc {

/// `graph`: behind the passes of the phase Rewrite; those of the phase Fuse are run here, on each candidate.
Result<Placement> choosePlacement(const Graph& graph, const Machine& machine, const CostModel& cost,
                                  const CompileOptions& options);

} // namespace dfc
