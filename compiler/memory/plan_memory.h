// planMemory: an arena for each device and an offset for each value. See ir/memory_plan.h for what must hold.
#pragma once

#include "ir/memory_plan.h"

namespace dfc {

/// An error, with the largest holders, for each device whose arena would exceed its capacity.
Result<MemoryPlan> planMemory(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine);

} // namespace dfc
