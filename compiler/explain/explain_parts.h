// The parts of an explanation, each made from the sealed plan and, where it cuts ops, the split.
#pragma once

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

} // namespace dfc
