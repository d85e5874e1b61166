// The printed form of a graph is a graph file: it parses back to the same graph, to the bit of every
// constant, and printing that gives the same text. Linear in the graph, and the same from run to run. Later
// stages are printed by `dfc compile --emit`.
#pragma once

#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"

#include <string>

namespace DFC_PUBLIC dfc {

/// A graph file (see dfc/parse.h): one op a line with its types, attributes where they differ from the
/// default, scopes as blocks, pins on the block that shares one or on the op.
std::string printGraph(const Graph& graph);

} // namespace dfc
