// planMemory: an arena for each device and an offset for each value. See ir/plan/memory_plan.h for what must
// hold.
#pragma once

#include "compiler/memory/storage.h"
#include "ir/plan/memory_plan.h"

namespace dfc {

/// An error, with the largest holders, for each device whose arena would exceed its capacity.
Result<MemoryPlan> planMemory(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine);

/// Where values should lie that do not outlive a step, in bytes behind the resident ones; -1 for anywhere.
using WishedOffsets = SideTable<ValueId, int64_t>;

/// The same whatever the capacities. A wish is granted where the schedule allows it and the whole then fits
/// into the device; `wishes` is empty or has all values.
MemoryPlan packMemory(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine,
                      const WishedOffsets& wishes = {}, Sharing sharing = Sharing::InPlace);

/// Whether the device has a capacity, and the plan's arena there exceeds it.
bool exceedsCapacity(const MemoryPlan& plan, const Machine& machine, DeviceId device);

} // namespace dfc
