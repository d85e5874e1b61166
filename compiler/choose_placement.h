// choosePlacement: the device of each op. Candidates are the graph as it is, placed by a policy, and the
// graph cut into parts (stage `split`). The candidate with the least planned seconds that fits into memory is
// chosen; one on more devices has to gain 2 %.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/placement.h"

namespace dfc {

/// `graph`: behind the passes of the phase Rewrite; those of the phase Fuse are run here, on each candidate.
Result<Placement> choosePlacement(const Graph& graph, const Machine& machine, const CostModel& cost,
                                  const CompileOptions& options);

} // namespace dfc
