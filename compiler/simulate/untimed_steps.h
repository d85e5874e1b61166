// Steps of a plan before their times are known: what a simulation of other seconds than the schedule's needs.
#pragma once

#include "ir/plan/launch_plan.h"

namespace dfc {

/// Every step with its seconds alone, from 0, under the waits of the launches: those of the peer reads where
/// there are any, else the schedule's.
Schedule untimedSteps(const Schedule& schedule, const LaunchPlan& launches,
                      const SideTable<StepId, double>& seconds);

} // namespace dfc
