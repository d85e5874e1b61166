// Devices without memory: what leaves them, by a fetch or a transfer, is zero. What their queues do for a
// command is the maker's.
#pragma once

#include "runtime/worker_group.h"

namespace dfc {

/// Any number of them. `makeWork`: for one queue.
std::unique_ptr<DeviceGroup> openNullDevices(const std::function<std::unique_ptr<WorkMaker>()>& makeWork);

} // namespace dfc
