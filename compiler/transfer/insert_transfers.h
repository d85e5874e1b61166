// insertTransfers: makes every movement between devices an op. One transfer for each (value, destination),
// routed over the machine's links and staged through a device on the way where there is no direct link; the
// fetches' way to the host included. State needs three things more, so that a step never copies a parameter
// that another device already has:
//
//   - a parameter that other devices read gets a replica on each, and its assign refreshes them with the next
//   value, at
//     the end of the step instead of the beginning, where the copy can hide behind work still under way;
//   - readers of an assign's result read the value itself, so that only assigns touch state, after everything
//   else;
//   - orderings keep the readers of the old value before the op that overwrites it.
#pragma once

#include "ir/plan/placed_graph.h"
#include "ir/plan/placement.h"

namespace dfc {

/// An error for each transfer in a graph that is not placed yet: it has no route, and none to find.
Diagnostics refuseTransfers(const Graph& graph);

/// Assumes a placement that `verifyPlacement` accepts and a machine whose devices all reach one another.
PlacedGraph insertTransfers(const Placement& placement, const Machine& machine);

/// Adds the orderings between the readers of each parameter's old value and the op that overwrites it (the
/// assign, and the producer of its value where that may write the parameter's storage directly).
void orderStateWrites(PlacedGraph& placed);

} // namespace dfc
