// expectSeconds: how long each launch of a plan is expected to take (LaunchRow::seconds).
#pragma once

#include "ir/machine/machine.h"
#include "ir/plan/launch_plan.h"

namespace dfc {

/// Divides the seconds of ops, as the schedule has them, among the launches that compute them.
void expectSeconds(LaunchPlan& launches, const Schedule& schedule, const Machine& machine);

} // namespace dfc
