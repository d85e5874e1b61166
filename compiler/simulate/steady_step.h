// steadyStep: how long a step takes in the steady state, where the feeds of each step are staged and
// prefetched while the step before computes: the longer of the step without them and of their own work.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/plan/launch_plan.h"

namespace dfc {

/// Of a schedule whose launches are counted. `cost`: which the schedule was made with. A prefetched feed is
/// still copied within the GPU, which in the simulation holds the links of its transfer, too.
SteadyStep steadyStep(const Schedule& schedule, const LaunchPlan& launches, const PlacedGraph& placed,
                      const Machine& machine, const CostModel& cost);

} // namespace dfc
