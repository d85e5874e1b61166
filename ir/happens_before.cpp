#include "ir/happens_before.h"

#include <algorithm>

namespace dfc {

HappensBefore::HappensBefore(const Schedule& schedule)
    : schedule_(schedule), queueCount_(schedule.queues.size()), clocks_(schedule.steps.size() * queueCount_) {
  for (const StepId step : schedule.steps.ids()) {
    uint32_t* clock = clocks_.data() + step.index() * queueCount_;
    const auto join = [&](StepId before) {
      DFC_ASSERT(before < step, "steps are in topological order");
      const uint32_t* other = clocks_.data() + before.index() * queueCount_;
      std::transform(clock, clock + queueCount_, other, clock,
                     [](uint32_t a, uint32_t b) { return std::max(a, b); });
      uint32_t& own = clock[schedule.steps[before].queue.index()];
      own = std::max(own, schedule.steps[before].position + 1);
    };
    const StepRow& row = schedule.steps[step];
    if (row.position > 0) {
      join(schedule.queues[row.queue].steps[row.position - 1]);
    }
    for (const StepId wait : row.waits) {
      join(wait);
    }
  }
}

bool HappensBefore::ordered(StepId a, StepId b) const {
  const StepRow& first = schedule_.steps[a];
  return countBefore(b, first.queue) > first.position;
}

uint32_t HappensBefore::countBefore(StepId step, QueueId queue) const {
  return clocks_[step.index() * queueCount_ + queue.index()];
}

} // namespace dfc
