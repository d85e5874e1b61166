// Machines that differ from another in one respect, to plan for in its place.
#pragma once

#include "ir/machine/machine.h"

#include <llvm/ADT/ArrayRef.h>

#include <optional>
#include <vector>

namespace dfc {

/// The size by which the path of transfers is chosen.
inline constexpr int64_t typicalTransferBytes = int64_t(1) << 20;

/// With one more device, a copy of `device`, as the last; none where no other device is connected to it,
/// because the copy would not be either. Its name is the kind and the first free number. Links that only
/// routes of `device` use (its NVLink, its PCIe lanes) are copied for it; links that other devices' routes
/// use as well (a switch, a bus) are shared. Its routes are those of `device` over these links. The route
/// between the two is that between `device` and another device of its class; without one, transfers between
/// them are staged.
std::optional<Machine> withOneMore(Machine machine, DeviceId device);
/// The routes that transfers between these devices take, those over a device between them (staged) included.
std::vector<Route> routesBetween(const Machine& machine, llvm::ArrayRef<DeviceId> devices);
/// With the links of these routes `factor` times as fast; latencies stay.
Machine withFasterLinks(Machine machine, llvm::ArrayRef<Route> routes, double factor);
/// With `factor` times the memory of these devices, as far as a number of bytes goes.
Machine withMoreMemory(Machine machine, llvm::ArrayRef<DeviceId> devices, int64_t factor);

} // namespace dfc
