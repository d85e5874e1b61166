// Whether ops can run where they are put. A cost model may say that an op takes for ever on a device, which
// is how it says that the device cannot run it; no plan is made on such a time.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// An error for each op that can run on none of the devices that it may have. What a step does not run
/// (parameters, constants) may be anywhere.
Diagnostics checkRunsSomewhere(const PlacementProblem& problem);
/// An error for each op that cannot run on the device that it has got.
Diagnostics checkRunsThere(const Placement& placement, const PlacementProblem& problem);

} // namespace dfc
