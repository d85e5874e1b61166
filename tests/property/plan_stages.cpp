// Taking apart is copying; putting together writes behind the back of a copy's accessors.
#include "tests/property/plan_stages.h"
#include "ir/plan/executable_parts.h"

namespace dfc::test {

PlanStages timelessStagesOf(const Executable& plan) {
  PlanStages parts{plan.placed(), plan.schedule(), plan.memory(), plan.machine()};
  for (const StepId step : parts.schedule.steps.ids()) {
    StepRow& row = parts.schedule.steps[step];
    row.start = row.end = row.slowed = 0;
  }
  parts.schedule.makespan = 0;
  parts.schedule.bounds = {};
  parts.schedule.steady = {};
  return parts;
}

Diagnostics verdictOn(const PlanStages& parts) {
  return Executable::seal(parts.placed, parts.schedule, parts.memory, parts.machine, "mutated").errors();
}

std::shared_ptr<const Executable> unverified(const Executable& sound, const PlanStages& parts) {
  const auto plan = std::make_shared<Executable>(sound);
  // The object is not const, only what it shows of itself: the language allows this, and Executable need not
  // know of us.
  const_cast<PlacedGraph&>(plan->placed()) = parts.placed;
  const_cast<Schedule&>(plan->schedule()) = parts.schedule;
  const_cast<MemoryPlan&>(plan->memory()) = parts.memory;
  const_cast<Machine&>(plan->machine()) = parts.machine;
  return plan;
}

} // namespace dfc::test
