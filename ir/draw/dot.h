// The graph as a picture, in the DOT language of Graphviz: a cluster a scope, inputs, state and fetches in
// shapes of their own, pins by colour, and a legend. The name and type of a value stand in
// the node that computes it: labels on edges would cover each other. Linear in the graph.
#pragma once

#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"

#include <string>

namespace DFC_PUBLIC dfc {

/// Texts of graphDot beside the graph.
struct GraphPicture {
  std::string explanation = "";                   ///< below the title, "" for a count of ops and fetches
  std::string_view meaningOfPin = "pinned to it"; ///< in the legend, of a device's colour
  std::vector<std::string> devices =
      {};                             ///< a machine's, where it is known: they have first choice of colours
  std::string_view graphIs = "graph"; ///< in the title: "12 ops of the graph"
};

/// Render with: dot -Tsvg. An assign shows by its name which parameter it writes, not by an edge.
std::string graphDot(const Graph& graph, const GraphPicture& picture = {});

} // namespace dfc
