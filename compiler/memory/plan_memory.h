// planMemory: an arena for each device and an offset for each value. ir/plan/memory_plan.h has the conditions
// that a plan meets.
#pragma once

#include "compiler/memory/storage.h"
#include "ir/plan/memory_plan.h"

namespace dfc {

/// An error, with the largest holders, for each device whose arena would exceed its capacity.
Result<MemoryPlan> planMemory(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine);

/// Preferred offsets of values that do not outlive a step, in bytes behind the resident values; -1 for none.
using PreferredOffsets = SideTable<ValueId, int64_t>;

/// A memory plan without a check of capacities. `preferred`: empty, or one offset for each value. A device's
/// preferred offsets are used if happens-before makes them safe and its plan then fits into its capacity.
MemoryPlan packMemory(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine,
                      const PreferredOffsets& preferred = {}, Sharing sharing = Sharing::InPlace);

/// Whether the device has a capacity, and the plan's arena there exceeds it.
bool exceedsCapacity(const MemoryPlan& plan, const Machine& machine, DeviceId device);

} // namespace dfc
