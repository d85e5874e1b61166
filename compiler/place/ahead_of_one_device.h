// aheadOfOneDevice: the guard of the policies that spread ops by one list heuristic.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// `spread`, if the scheduler, which models links and queues as the runtime uses them, predicts it to be
/// faster than the best single device by more than predictions miss, or if no single device holds the
/// parameters; else that device. Copies cost memory and a plan's devices wait for one another, so a gain that
/// may be none is no gain.
Placement aheadOfOneDevice(Placement spread, const PlacementProblem& problem);

/// Every device of the machine.
std::vector<DeviceId> allDevices(const Machine& machine);

} // namespace dfc
