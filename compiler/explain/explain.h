// explain: compiles a graph and describes its plan: devices and their shares, ops by scope, layouts of
// parameters, copies and how much of them computation hides, the other candidates, and the plan's seconds on
// changed machines.
#pragma once

#include "compiler/compile.h"
#include "compiler/explain/explanation.h"
#include "compiler/grids.h"

namespace dfc {

struct ExplainOptions {
  size_t scopeDepth = 2;               ///< how many of the nested scopes are told apart
  bool changes = true;                 ///< plans again, with another device, faster links and more memory
  bool oneDevice = true;               ///< plans for one device, too, to compare with
  std::optional<WantedGrid> grid = {}; ///< of `explainQuotient`: described in place of the best one
};

struct Explained {
  Executable plan;
  Explanation explanation;
};

/// Errors as of `compile`. The observer of the options sees nothing. Each plan takes the time and the steps
/// that the options give a search.
Result<Explained> explain(const Graph& graph, const Machine& machine, const CostModel& cost,
                          CompileOptions options, const ExplainOptions& explain = {});

/// What a sealed plan says of itself: its devices, parameters, copies and seconds. How its ops were cut and
/// what else was compared are not kept in it.
Explanation explainPlan(const Executable& plan);

} // namespace dfc
