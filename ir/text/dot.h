// The graph as a picture, in the DOT language of Graphviz: a cluster a scope, inputs, state and fetches in
// shapes of their own, types and sizes on the edges, pins by colour, and a legend. Linear in the graph.
#pragma once

#include "ir/graph.h"

#include <string>

namespace dfc {

/// Render with: dot -Tsvg. An assign shows by its name which parameter it writes, not by an edge.
std::string graphDot(const Graph& graph);

} // namespace dfc
