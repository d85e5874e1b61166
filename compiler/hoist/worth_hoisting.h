// worthHoisting: which loop-invariant ops of a graph are hoisted, by the bytes of their results and the
// operations that they save. README.md gives the rule and its reasons.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

struct InvariantOps {
  SideTable<OpId, bool> invariant; ///< the same values in every step; parameters and constants among them
  SideTable<OpId, bool> worth;     ///< of these, the ops that are computed once
};
InvariantOps worthHoisting(const Graph& graph);

} // namespace dfc
