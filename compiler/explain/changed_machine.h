// Machines that differ from another in one respect, to plan for in its place.
#pragma once

#include "ir/machine/machine.h"

#include <llvm/ADT/ArrayRef.h>

namespace dfc {

/// With one more device, a copy of `device`, as the last. Links that only routes of `device` use (its NVLink,
/// its PCIe lanes) are copied for it; links that other devices' routes use as well (a switch, a bus) are
/// shared. Its routes are those of `device` over these links. The route between the two is that between
/// `device` and another device of its class; without one, transfers between them are staged.
Machine withOneMore(Machine machine, DeviceId device);
/// With the links between these devices `factor` times as fast; latencies stay.
Machine withFasterLinks(Machine machine, llvm::ArrayRef<DeviceId> devices, double factor);
/// With `factor` times the memory of these devices.
Machine withMoreMemory(Machine machine, llvm::ArrayRef<DeviceId> devices, int64_t factor);

} // namespace dfc
