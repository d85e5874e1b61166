// explainQuotient: how a graph would run on more devices than a plan is made for, or over a grid that is
// asked for.
#pragma once

#include "compiler/explain/explain.h"

namespace dfc {

/// Describes the best quotient plan (compiler/quotient), or that of `explain.grid`: its grid, how the ops of
/// each scope are split, memory, and the other grids. For machines of any number of devices. Errors: those of
/// `compile` before placement; pins and cuts, which only plans take; no grid over which the graph can be
/// split, or not that one.
Result<Explanation> explainQuotient(const Graph& graph, const Machine& machine, const CostModel& cost,
                                    const CompileOptions& options, const ExplainOptions& explain = {});

} // namespace dfc
