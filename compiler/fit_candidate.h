// fitCandidate: a placement whose plan fits into memory: as it is, with ops computed twice, or with the batch
// in parts, whichever is predicted to be the quickest of those that fit.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/placement.h"

#include <optional>

namespace dfc {

/// The predicted seconds of a step. `unfused`: the graph before the passes of the phase Fuse, of which
/// `policy` made the placement. Empty, and the placement as it was, where nothing fits.
std::optional<double> fitCandidate(Placement& placement, const Graph& unfused, const std::string& policy,
                                   const Machine& machine, const CostModel& cost,
                                   const CompileOptions& options);

} // namespace dfc
