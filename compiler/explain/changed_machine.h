// Machines that differ from another in one respect, to plan for in its place.
#pragma once

#include "ir/machine/machine.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

/// With one more device like `device`, the last: with links of its own where `device` has such, and a share
/// of those that others use, too. Routes as those of `device`; to `device` itself as between it and another
/// device of its class, or staged where there is none.
Machine withOneMore(Machine machine, DeviceId device);
/// With the links between these devices `factor` times as fast; latencies stay.
Machine withFasterLinks(Machine machine, llvm::ArrayRef<DeviceId> devices, double factor);
/// With `factor` times the memory of these devices.
Machine withMoreMemory(Machine machine, llvm::ArrayRef<DeviceId> devices, int64_t factor);

} // namespace dfc
