// Pictures of a placed graph for Graphviz' dot: who computes what where, and what moves between them.
#pragma once

#include "ir/placed_graph.h"

#include <string>

namespace dfc {

/// Every op: a cluster a device, in it a cluster a scope; transfers between the clusters with bytes and
/// route.
std::string placedDot(const PlacedGraph& placed, const Machine& machine);

/// The same with one box for each scope on each device (ir/scope_view.h): the figure of a training step.
std::string figureDot(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
