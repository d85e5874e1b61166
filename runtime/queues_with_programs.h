// Which queues of a plan have something to do in a step: `resolve` makes them programs.
#pragma once

#include "ir/plan/executable_parts.h"

#include <vector>

namespace dfc {

/// The queue that copies values to the caller which no step makes: the device's first. Asserts that it has
/// one.
QueueId fetchingQueueOf(const Schedule& schedule, DeviceId device);

/// In queue order: queues with steps, and queues that copy values which no step makes.
std::vector<QueueId> queuesWithPrograms(const Executable& plan);

} // namespace dfc
