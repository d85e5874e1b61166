// checkAddressable: overflow check before memory planning. The values of one device together have to stay far
// below the range of int64, so that no sum of sizes in scheduling, planning and verifying can overflow,
// whatever capacities the machine file gives.
#pragma once

#include "ir/plan/placed_graph.h"

namespace dfc {

/// Limit for the sum of all values of one device in bytes, whatever their lifetimes.
inline constexpr int64_t mostBytesOfDevice = int64_t{1} << 60;

/// An error for each device whose values exceed this, naming the largest value.
Diagnostics checkAddressable(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
