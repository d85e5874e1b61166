// stateUpdates: the ops that compute the next values of parameters from the parameters and their gradients.
#pragma once

#include "ir/machine/machine.h"
#include "ir/plan/placement.h"

#include <vector>

namespace dfc {

/// Elementwise ops on one device that share parameters or large values, and the parameters that they update.
struct StateUpdate {
  std::vector<OpId> ops;
  std::vector<OpId> parameters, assigns;
  DeviceId device;
  int64_t freedBytes = 0; ///< of parameters that have no other readers, or none but casts to 16 bits
  /// Those of `parameters` that have no other readers, their assigns, and their bytes.
  std::vector<OpId> own, ownAssigns;
  int64_t ownBytes = 0;
  int64_t bytesIn = 0;  ///< of values that it reads of other ops: gradients
  int64_t bytesOut = 0; ///< of next values that other ops of the device read, in 16 bits where they do
};

/// `isFree`: whether an op may run elsewhere. Values below `leastBytes`, by device, are no part of an update:
/// they stay where they are, and so do the ops that make only such values.
std::vector<StateUpdate> stateUpdates(const Placement& placement, const SideTable<OpId, bool>& isFree,
                                      const SideTable<DeviceId, int64_t>& leastBytes);

} // namespace dfc
