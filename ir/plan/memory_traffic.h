// MemoryTraffic: the part of a CPU's memory bandwidth that a step takes: a copy from or to its memory, or an
// op there. Steps that run at once and want more than all of it slow one another down, whatever devices they
// run on: GPUs that copy in both directions can ask a host for more bytes a second than its memory moves.
#pragma once

#include "ir/machine/machine.h"
#include "ir/plan/placed_graph.h"

namespace dfc {

struct MemoryTraffic {
  DeviceId device;  ///< the CPU; invalid for none
  double share = 0; ///< of its `memoryBandwidth`, 0 to 1, while the step runs alone
};

/// `seconds`: of the op alone. For a copy between two CPUs: the memory of the smaller bandwidth. No traffic
/// where the machine file states no bandwidth, and for a copy in fewer seconds than its links need: a
/// prefetched feed, which its step copies within the GPU.
MemoryTraffic memoryTraffic(const PlacedGraph& placed, OpId op, double seconds, const Machine& machine);

} // namespace dfc
