// tiedOps: ops of different rows that do the same to the same: one op of the graph before it was spread over
// groups, or what brings its operands. They are cut alike, so that all copies of a parameter get the same
// bits.
#pragma once

#include "compiler/split/split_plan.h"
#include "ir/graph/graph.h"

#include <utility>
#include <vector>

namespace dfc {

/// Pairs of ops of equal kinds and types, whose operands come from tied ops; of several in a row the first is
/// tied to the first of the other row, and so on. Other attributes are not compared. Found by hashes of
/// neighbourhoods (Weisfeiler and Leman 1968), from operands to results.
std::vector<std::pair<OpId, OpId>> tiedOps(const Graph& graph, const Rows& rows);

} // namespace dfc
