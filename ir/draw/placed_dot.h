// Pictures of a placed graph for Graphviz' dot: the ops of each device, and the transfers between devices.
#pragma once

#include "ir/plan/placed_graph.h"

#include <string>

namespace dfc {

/// Every op: a frame a device, in it a frame a scope; transfers in a shape of their own, with bytes and
/// route; orderings that no chain of operands implies as dotted arrows; a legend.
std::string placedDot(const PlacedGraph& placed, const Machine& machine);

/// The same with one box for each scope on each device (ir/draw/scope_view.h) and transfers between the
/// frames: the figure of a training step. Parameters and replicas stand below the op that writes them.
std::string figureDot(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
