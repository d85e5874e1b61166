#include "compiler/simulate/untimed_steps.h"

#include "ir/plan/step_order.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {

Schedule untimedSteps(const Schedule& schedule, const LaunchPlan& launches,
                      const SideTable<StepId, double>& seconds) {
  Schedule steps = schedule;
  for (const StepId step : steps.steps.ids()) {
    StepRow& row = steps.steps[step];
    row.start = row.slowed = 0;
    row.end = seconds[step];
    for (const StepId wait : launches.waitsOf(schedule, step)) {
      if (!llvm::is_contained(row.waits, wait)) {
        row.waits.push_back(wait);
      }
    }
  }
  return steps;
}

std::vector<StepId> orderOf(const Schedule& steps) {
  StepWaits waits(steps.steps.size());
  for (const StepId step : waits.ids()) {
    waits[step] = steps.steps[step].waits;
  }
  return orderOf(steps, waits);
}

} // namespace dfc
