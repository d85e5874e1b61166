#include "compiler/simulate/steady_step.h"

#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/schedule_problem.h"
#include "compiler/simulate/simulate.h"
#include "compiler/simulate/untimed_steps.h"
#include "ir/base/assert.h"
#include "ir/plan/feeds.h"

#include <algorithm>

namespace dfc {

SteadyStep steadyStep(const Schedule& schedule, const LaunchPlan& launches, const PlacedGraph& placed,
                      const Machine& machine, const CostModel& cost) {
  const FeedTimes feeds = feedTimes(placed, schedule, machine);
  if (!feeds.any) {
    return {schedule.makespan, schedule.bounds.best()};
  }
  const Schedule steps = untimedSteps(schedule, launches, feeds.inStep);
  const double inStep = simulate(placed, steps, machine).makespan;
  const double least =
      lowerBounds(scheduleProblem(schedule, feeds.inStep, placed, machine, cost).list).best();
  constexpr double rounding = 1e-6;
  DFC_ASSERT(inStep >= least * (1 - rounding), "a step without its feeds is predicted below its bound");
  const double bound = std::min(schedule.makespan, std::max(least, feeds.outside));
  return {std::clamp(inStep, bound, schedule.makespan), bound};
}

} // namespace dfc
