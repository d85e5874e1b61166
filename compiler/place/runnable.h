// Checks that ops can run on their devices. A cost model gives an infinite duration for an op that a device
// cannot run; such placements are errors.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// An error for each op that can run on none of the devices that its pin allows. Parameters and constants are
/// not executed and may be on any device.
Diagnostics checkRunsSomewhere(const PlacementProblem& problem);
/// An error for each op that cannot run on the device that it was placed on.
Diagnostics checkRunsThere(const Placement& placement, const PlacementProblem& problem);

} // namespace dfc
