#include "runtime/queues_with_programs.h"

#include "ir/base/assert.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>

namespace dfc {

QueueId fetchingQueueOf(const Schedule& schedule, DeviceId device) {
  for (const QueueId queue : schedule.queues.ids()) {
    if (schedule.queues[queue].device == device) {
      return queue;
    }
  }
  DFC_UNREACHABLE(fmt::format("a value is fetched from device {}, which has no queue", device.index()));
}

std::vector<QueueId> queuesWithPrograms(const Executable& plan) {
  const Schedule& schedule = plan.schedule();
  SideTable<QueueId, bool> works(schedule.queues.size());
  for (const QueueId queue : schedule.queues.ids()) {
    works[queue] = !schedule.queues[queue].steps.empty();
  }
  for (const Fetch& fetch : plan.graph().fetches()) {
    if (!schedule.stepOf[plan.graph()[fetch.value].producer].valid()) {
      works[fetchingQueueOf(schedule, plan.memory().slots[fetch.value].device)] = true;
    }
  }
  std::vector<QueueId> queues;
  for (const QueueId queue : schedule.queues.ids()) {
    if (works[queue]) {
      queues.push_back(queue);
    }
  }
  return queues;
}

} // namespace dfc
