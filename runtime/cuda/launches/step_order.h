// An order of a plan's steps where they wait for one another in another way than the schedule has them wait,
// and who stands in the way of one. On its queue a step always follows the one before.
#pragma once

#include "ir/plan/executable_parts.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <vector>

namespace dfc::cuda {

using StepList = llvm::SmallVector<StepId, 2>;
using StepWaits = SideTable<StepId, StepList>; ///< whom each step waits for on other queues

/// The step before on its queue; invalid for the first.
StepId previousOf(const Schedule& schedule, StepId step);

/// Whom any step waits for; `waitsOf` gives whom one does.
SideTable<StepId, bool> awaitedSteps(size_t steps,
                                     llvm::function_ref<llvm::ArrayRef<StepId>(StepId)> waitsOf);

/// Every step once, behind its waits and the one before on its queue; fewer where steps wait for one another
/// in circles, without these and what comes behind them. Kahn's topological sort (1962), smallest step first,
/// which is the schedule's own order as far as the waits allow.
std::vector<StepId> orderOf(const Schedule& schedule, const StepWaits& waits);

/// The steps in a circle, or between two circles; `order` is what `orderOf` gave.
SideTable<StepId, bool> circlesOf(const Schedule& schedule, const StepWaits& waits,
                                  llvm::ArrayRef<StepId> order);

} // namespace dfc::cuda
