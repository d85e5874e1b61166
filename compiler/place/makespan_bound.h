// What no schedule of a placement can undercut, found without scheduling it: a pass over the graph, where a
// schedule takes a copy of it, ranks and a simulation. So candidates that cannot win cost next to nothing.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// Seconds, a little less than the truth because of rounding: the busiest of the devices with its work over
/// its queues, of the copy engines and of the links, with the transfers that `insertTransfers` would make.
double makespanBound(const Placement& placement, const PlacementProblem& problem);

} // namespace dfc
