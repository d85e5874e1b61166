// The computations of a plan as a graph: a placed graph without what placing added to it.
#pragma once

#include "ir/plan/placed_graph.h"

namespace dfc {

/// Without transfers, replicas and their refreshing; whatever read a copy reads the original. Each op is
/// pinned to the device that it was placed on. Parameters come first, else the order stays. Linear.
Graph computationsOf(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
