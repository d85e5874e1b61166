// expandSplit: the split graph: for each op of the graph its parts, pinned to the devices of the mesh, with
// the ops that bring operands to them. An ordinary graph, in which everything behind it sees ordinary ops.
#pragma once

#include "compiler/split/movement.h"
#include "compiler/split/split_plan.h"

namespace dfc {

/// `movements`: what its parts send to one another, for reports; null if no report is wanted.
Graph expandSplit(const Graph& graph, const SplitPlan& plan, const Machine& machine,
                  std::vector<Movement>* movements = nullptr);

} // namespace dfc
