// slackOf: how much later each step of the plan may end without the last end being later (float of the
// critical path method: Kelley and Walker 1959).
#pragma once

#include "ir/plan/trace_step.h"

namespace dfc {

/// Seconds, 0 or more. Later steps keep their durations and begin as soon as the order of their queues and
/// their waits allow: contention for links is left out, so a step of the critical path may have slack where
/// one waited for a link.
SideTable<StepId, double> slackOf(const TraceStep& step, const Schedule& schedule);

} // namespace dfc
