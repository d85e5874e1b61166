// Whether the values of a placed graph can be given offsets at all: those of one device together stay far
// below what an int64 counts, so that no sum of sizes in scheduling, planning and verifying can overflow,
// whatever the machine file says of capacities.
#pragma once

#include "ir/plan/placed_graph.h"

namespace dfc {

/// Bytes that the values of one device may have together, whether or not they are alive at one time.
inline constexpr int64_t mostBytesOfDevice = int64_t{1} << 60;

/// An error for each device whose values have more, with the largest of them.
Diagnostics checkAddressable(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
