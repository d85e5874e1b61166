// Steps of a plan before their times are known: what a simulation of other seconds than the schedule's needs.
#pragma once

#include "ir/plan/launch_plan.h"

namespace dfc {

/// Every step with its seconds alone, from 0, under the waits of the schedule and of the peer reads.
Schedule untimedSteps(const Schedule& schedule, const LaunchPlan& launches,
                      const SideTable<StepId, double>& seconds);

/// A topological order of the steps; shorter than they are where there is a cycle.
std::vector<StepId> orderOf(const Schedule& steps);

} // namespace dfc
