#include "ir/plan/happens_before.h"

namespace dfc {

HappensBefore::HappensBefore(const Schedule& schedule) : schedule_(schedule), clocks_(schedule) {
  for (const StepId step : schedule.steps.ids()) {
    const StepRow& row = schedule.steps[step];
    if (row.position > 0) {
      clocks_.join(step, schedule.queues[row.queue].steps[row.position - 1]);
    }
    for (const StepId wait : row.waits) {
      clocks_.join(step, wait);
    }
  }
}

bool HappensBefore::ordered(StepId a, StepId b) const {
  const StepRow& first = schedule_.steps[a];
  return countBefore(b, first.queue) > first.position;
}

} // namespace dfc
