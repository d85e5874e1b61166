// memoryDemand: bounds on the memory that a placement needs, without a schedule: a cheap test before the
// memory planner's.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// Bytes by device; real numbers, since sums of sizes that are refused later may exceed integers.
struct MemoryDemand {
  /// Parameters and constants, with their replicas.
  SideTable<DeviceId, double> state;
  /// No plan needs less: parameters and constants with their replicas, and the operands or results of the op
  /// that has most of them.
  SideTable<DeviceId, double> least;
  /// Of a step that runs its ops in the order of their ids, as far as copies arrive when they are made.
  SideTable<DeviceId, double> likely;
  /// No plan needs more: every value has bytes of its own.
  SideTable<DeviceId, double> most;
};
MemoryDemand memoryDemand(const Placement& placement, const Machine& machine);

/// Whether every device has that much; a capacity of 0 is no limit.
bool fitsInto(const Machine& machine, const SideTable<DeviceId, double>& bytes);

} // namespace dfc
