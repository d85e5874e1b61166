// fitCandidate: makes a placement fit into memory. Three variants are planned, the given placement, the same
// with recomputation (compiler/rematerialise), and the graph in micro-batches (compiler/split/pipeline); the
// one with the fewest predicted seconds is kept.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/placement.h"

#include <optional>

namespace dfc {

/// Replaces `placement` by the variant that is kept, and returns its predicted seconds per step. `unfused`:
/// the graph before the phase Fuse; micro-batches are made from it, fused, and placed by `policy`. Without a
/// variant that fits, returns nothing and leaves `placement` unchanged.
std::optional<double> fitCandidate(Placement& placement, const Graph& unfused, const std::string& policy,
                                   const Machine& machine, const CostModel& cost,
                                   const CompileOptions& options);

} // namespace dfc
