// explain: compiles, and says what the plan does on which devices, what it waits for, what was considered in
// its place, and what another machine would give.
#pragma once

#include "compiler/compile.h"
#include "compiler/explain/explanation.h"

namespace dfc {

struct ExplainOptions {
  size_t scopeDepth = 2; ///< how many of the nested scopes are told apart
  bool changes = true;   ///< plans again, with another device, faster links and more memory
  bool oneDevice = true; ///< plans for one device, too, to compare with
};

struct Explained {
  Executable plan;
  Explanation explanation;
};

/// Errors as of `compile`. The observer of the options sees nothing.
Result<Explained> explain(const Graph& graph, const Machine& machine, const CostModel& cost,
                          CompileOptions options, const ExplainOptions& explain = {});

} // namespace dfc
