// explainQuotient: how a graph would run on more devices than a plan is made for.
#pragma once

#include "compiler/explain/explain.h"

namespace dfc {

/// Describes the best of the quotient plans (compiler/quotient): its grid, the ops of each scope, memory, and
/// the other grids. Errors: those of the graph's passes, pins and cuts, which are for plans, and a graph of
/// which no grid is a plan.
Result<Explanation> explainQuotient(const Graph& graph, const Machine& machine, const CostModel& cost,
                                    const CompileOptions& options, const ExplainOptions& explain = {});

} // namespace dfc
