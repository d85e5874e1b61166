#include "ir/plan/step_clocks.h"

#include <algorithm>

namespace dfc {
namespace {

size_t busyQueues(const Schedule& schedule) {
  return static_cast<size_t>(std::count_if(schedule.queues.begin(), schedule.queues.end(),
                                           [](const QueueRow& queue) { return !queue.steps.empty(); }));
}

} // namespace

StepClocks::StepClocks(const Schedule& schedule)
    : schedule_(schedule), column_(schedule.queues.size()), columns_(busyQueues(schedule)),
      clocks_(entries(schedule)) {
  uint32_t column = 0;
  for (const QueueId queue : schedule.queues.ids()) {
    column_[queue] = column;
    column += schedule.queues[queue].steps.empty() ? 0 : 1;
  }
}

void StepClocks::join(StepId step, StepId before) {
  DFC_ASSERT(before < step, "steps are in topological order");
  uint32_t* const clock = clocks_.data() + step.index() * columns_;
  const uint32_t* const other = clocks_.data() + before.index() * columns_;
  std::transform(clock, clock + columns_, other, clock,
                 [](uint32_t a, uint32_t b) { return std::max(a, b); });
  const StepRow& row = schedule_.steps[before];
  uint32_t& own = clock[column_[row.queue]];
  own = std::max(own, row.position + 1);
}

uint32_t StepClocks::count(StepId step, QueueId queue) const {
  return schedule_.queues[queue].steps.empty() ? 0 : clocks_[step.index() * columns_ + column_[queue]];
}

uint64_t StepClocks::entries(const Schedule& schedule) {
  return uint64_t{schedule.steps.size()} * busyQueues(schedule);
}

} // namespace dfc
