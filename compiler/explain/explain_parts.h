// The parts of an explanation, each made from the sealed plan and, where it cuts ops, the split.
#pragma once

#include "compiler/considered.h"
#include "compiler/explain/explanation.h"
#include "compiler/split/split.h"
#include "ir/plan/executable_parts.h"

namespace dfc {

/// How the ops of each scope run, by the seconds that the choice of the split counted.
std::vector<ExplainedScope> explainScopes(const SplitGraph& split, size_t depth);
/// By type and layout, the most bytes first.
std::vector<ExplainedParameters> explainParameters(const Executable& plan);
/// By kind, the most link seconds first. `split`: null for a plan of whole ops.
std::vector<ExplainedTraffic> explainTraffic(const Executable& plan, const SplitGraph* split);

/// A row for each placement that `choosePlacement` compared: the chosen placement first, then the other
/// placements with plans that fit into memory, by predicted seconds, then placements that do not fit.
std::vector<ExplainedCandidate> explainCandidates(const ConsideredPlacements& placements,
                                                  const Machine& machine);
/// "slower by 12.0 %" than `best`, or "shorter by …".
std::string slowerText(double seconds, double best);

} // namespace dfc
