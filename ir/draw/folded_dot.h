// foldedDot: a graph too large to be drawn op by op, as a box a scope. Scopes are opened from the outermost
// on while the number of boxes allows it; equal layers are one box, "× 12". Copies between devices are amber
// arrows with their number and bytes, or counted in the box that they stay within.
#pragma once

#include "ir/plan/placed_graph.h"

#include <string>

namespace dfc {

struct FoldedPicture {
  std::string title = "";
  std::string explanation = ""; ///< why it is folded; lines apart by \n
  size_t mostBoxes = 100;
};

/// Of a plan: where each box is computed stands in it. Linear in the graph, and in its number of boxes
/// squared.
std::string foldedDot(const PlacedGraph& placed, const Machine& machine, const FoldedPicture& picture);
/// Of a graph without devices.
std::string foldedDot(const Graph& graph, const FoldedPicture& picture);

} // namespace dfc
