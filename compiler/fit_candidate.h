// fitCandidate: makes a placement fit into memory. Three variants are planned, the given placement, the same
// with recomputation (compiler/rematerialise), and the graph in micro-batches (compiler/split/pipeline); the
// one with the fewest predicted seconds is kept.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/placement.h"

#include <optional>

namespace dfc {

/// Gives the predicted seconds of a step, and puts the variant that was kept into `placement`. `unfused`: the
/// input of the passes of the phase Fuse whose output `policy` placed. Empty, and `placement` unchanged,
/// where no variant fits.
std::optional<double> fitCandidate(Placement& placement, const Graph& unfused, const std::string& policy,
                                   const Machine& machine, const CostModel& cost,
                                   const CompileOptions& options);

} // namespace dfc
