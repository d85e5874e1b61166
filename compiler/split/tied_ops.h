// tiedOps: corresponding ops of different groups, made from one op of the graph before the split over groups.
// A split within groups cuts them alike, so that all groups update their copies of a parameter to the same
// bits.
#pragma once

#include "compiler/split/split_plan.h"
#include "ir/graph/graph.h"

#include <utility>
#include <vector>

namespace dfc {

/// Pairs of ops from two rows with equal kinds and result types, whose operands come from tied ops; if a row
/// has several such ops, they are paired in graph order. Other attributes are not compared. Found by colour
/// refinement (Weisfeiler and Leman 1968) from operands to results.
std::vector<std::pair<OpId, OpId>> tiedOps(const Graph& graph, const Rows& rows);

} // namespace dfc
