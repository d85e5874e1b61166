#include "compiler/simulate/untimed_steps.h"

namespace dfc {

Schedule untimedSteps(const Schedule& schedule, const LaunchPlan& launches,
                      const SideTable<StepId, double>& seconds) {
  Schedule steps = schedule;
  for (const StepId step : steps.steps.ids()) {
    StepRow& row = steps.steps[step];
    row.start = row.slowed = 0;
    row.end = seconds[step];
    const llvm::ArrayRef<StepId> waits = launches.waitsOf(schedule, step);
    row.waits.assign(waits.begin(), waits.end());
  }
  return steps;
}

} // namespace dfc
