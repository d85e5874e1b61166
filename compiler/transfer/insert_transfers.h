// insertTransfers: makes every movement between devices an op: one transfer for each (value, destination),
// routed over the machine's links and staged through an intermediate device where there is no direct route.
// Fetched values are transferred to the host. What the placement says is recomputed is no transfer: each
// alike device that reads it computes it. Four rules about state keep a step from copying a parameter that
// another device already has, or from casting one that has not changed:
//
//   - a parameter that other devices read gets a replica on each, and its assign refreshes them with the next
//   value, at
//     the end of the step instead of the beginning, where the copy can hide behind work still under way; not
//     one that the placement says is streamed: that is transferred in each step;
//   - a parameter of f32 that is cast to 16 bits is kept in that type, too: a replica beside it, assigned the
//   cast of the next value, so that no step casts it anew and its update writes both;
//   - readers of an assign's result read the value itself, so that only assigns touch state, after everything
//   else;
//   - orderings keep the readers of the old value before the op that overwrites it.
#pragma once

#include "ir/plan/placed_graph.h"
#include "ir/plan/placement.h"

namespace dfc {

/// An error for each transfer and each subview of a graph that is to be compiled: only plans have these ops.
Diagnostics refusePlanOps(const Graph& graph);

/// Whether parameters of f32 are kept in the 16-bit types that they are cast to: fewer bytes are moved, and
/// more are resident.
enum class Narrow : uint8_t { Kept, CastAnew };
/// Whether parameters that other devices read have replicas there, or are transferred in each step, which
/// suits a plan whose steps are rare.
enum class Replicas : uint8_t { Kept, Transferred };

/// Assumes a placement that `verifyPlacement` accepts and a machine whose devices all reach one another.
PlacedGraph insertTransfers(const Placement& placement, const Machine& machine, Narrow narrow = Narrow::Kept,
                            Replicas replicas = Replicas::Kept);

/// Whether a replica is of another type than its original.
bool hasNarrowReplicas(const PlacedGraph& placed);

/// Adds the orderings between the readers of each parameter's old value and the op that overwrites it (the
/// assign, and the producer of its value where that may write the parameter's storage directly).
void orderStateWrites(PlacedGraph& placed);

} // namespace dfc
