#include "ir/happens_before.h"

#include <algorithm>

namespace dfc {

HappensBefore::HappensBefore(const Schedule& schedule)
    : schedule_(schedule), busy_(schedule), clocks_(schedule.steps.size() * busy_.count()) {
  for (const StepId step : schedule.steps.ids()) {
    uint32_t* clock = clocks_.data() + step.index() * busy_.count();
    const auto join = [&](StepId before) {
      DFC_ASSERT(before < step, "steps are in topological order");
      const uint32_t* other = clocks_.data() + before.index() * busy_.count();
      std::transform(clock, clock + busy_.count(), other, clock,
                     [](uint32_t a, uint32_t b) { return std::max(a, b); });
      uint32_t& own = clock[busy_.numberOf(schedule.steps[before].queue)];
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
  return schedule_.queues[queue].steps.empty()
             ? 0
             : clocks_[step.index() * busy_.count() + busy_.numberOf(queue)];
}

} // namespace dfc
