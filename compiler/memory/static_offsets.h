// assignStaticOffsets: places for all buffers, settled beforehand for one order of the tasks, and the
// orderings that make them safe on any number of queues: who takes a place comes after all users of who had
// it. They are forward in that order, so nothing can wait for itself, and no task ever finds its room cut
// into pieces.
#pragma once

#include "compiler/memory/minimum_memory_order.h"

#include <optional>

namespace dfc {

struct StaticOffsets {
  SideTable<BufferId, int64_t> offsets;
  std::vector<TaskOrdering> orderings;
};

/// None where the packing found exceeds the room of a device, or a device has so many buffers that comparing
/// all pairs would take too long.
std::optional<StaticOffsets> assignStaticOffsets(const MinimumMemoryOrder& minimal,
                                                 const SideTable<DeviceId, int64_t>& available);

} // namespace dfc
