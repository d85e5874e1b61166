// A topological order of a plan's steps under other waits than the schedule's, and the steps of the cycles
// where there is none. On its queue a step always follows the one before.
#pragma once

#include "ir/plan/schedule.h"

#include <llvm/ADT/STLFunctionalExtras.h>

#include <vector>

namespace dfc {

using StepList = llvm::SmallVector<StepId, 2>;
using StepWaits = SideTable<StepId, StepList>; ///< by step: the steps of other queues that it waits for

/// The step before on its queue; invalid for the first.
StepId previousOf(const Schedule& schedule, StepId step);

/// The steps that some step waits for; `waitsOf` gives the waits of one step.
SideTable<StepId, bool> awaitedSteps(size_t steps,
                                     llvm::function_ref<llvm::ArrayRef<StepId>(StepId)> waitsOf);

/// Every step once, after its waits and the one before on its queue; steps in a cycle, and steps that depend
/// on one, are left out. Kahn's topological sort (1962), smallest step first, which is the schedule's own
/// order as far as the waits allow.
std::vector<StepId> orderOf(const Schedule& schedule, const StepWaits& waits);

/// The steps in a cycle, or on a path between two cycles; `order` is the result of `orderOf`.
SideTable<StepId, bool> cyclesOf(const Schedule& schedule, const StepWaits& waits,
                                 llvm::ArrayRef<StepId> order);

} // namespace dfc
