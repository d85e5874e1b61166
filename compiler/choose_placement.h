// choosePlacement: which devices compute what. Of the placement of the graph as it is, by a policy, and of
// the graph cut into parts, by each candidate of the stage `split`, the one with the least predicted
// makespan.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/placement.h"

namespace dfc {

/// `graph`: behind the passes of the phase Rewrite; those of the phase Fuse are run here, on each candidate.
Result<Placement> choosePlacement(const Graph& graph, const Machine& machine, const CostModel& cost,
                                  const CompileOptions& options);

} // namespace dfc
