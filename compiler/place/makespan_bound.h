// makespanBound: a lower bound on the makespan of a placement by one pass over the graph, without inserting
// transfers or scheduling. Placements that cannot win are discarded by it at little cost.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// Seconds: the largest of each device's work divided by its number of queues, each copy engine's work and
/// each link's work, with the transfers that `insertTransfers` would make. Rounded down a little, so that the
/// rounding of sums keeps it a bound.
double makespanBound(const Placement& placement, const PlacementProblem& problem);

} // namespace dfc
