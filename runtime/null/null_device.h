// Devices without memory: what leaves them, by a fetch or a transfer, is zero. What their queues do for a
// command is the maker's.
#pragma once

#include "runtime/worker_queue.h"

#include <functional>

namespace dfc {

std::vector<std::unique_ptr<Device>>
openNullDevices(size_t count, const std::function<std::unique_ptr<WorkMaker>()>& makeWork);

} // namespace dfc
