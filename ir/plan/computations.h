// computationsOf: the computations of a plan as a graph, without the ops that placement added.
#pragma once

#include "ir/plan/placed_graph.h"

namespace dfc {

/// Leaves out transfers, replicas and the assigns of replicas; readers of a copy read the original, or a cast
/// of it. Each op is pinned to the device that it was placed on. Parameters come first, otherwise the order
/// is kept. Linear time.
Graph computationsOf(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
