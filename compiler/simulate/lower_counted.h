// lowerCounted: lowering, and the predicted times of the launches; for plans and candidates alike.
#pragma once

#include "compiler/cost/cost_model.h"
#include "compiler/lower/lower.h"

namespace dfc {

/// The launches of a schedule, which gets their times and those of the steady state. Reads of large values at
/// peers are chosen by the schedule's times, step by step, and may delay what comes behind them: where the
/// launches take longer than the schedule predicted, a plan without such reads is counted, too, and the
/// quicker of the two is taken. Errors are those of `lower`.
Result<LaunchPlan> lowerCounted(const PlacedGraph& placed, Schedule& schedule, const MemoryPlan& memory,
                                const Machine& machine, const CostModel& cost, LowerOptions options);

} // namespace dfc
