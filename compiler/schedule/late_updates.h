// Late updates: ops on a GPU that only lead to new values of small state, such as running statistics and the
// updates of biases. Nothing in the step waits for them. Run behind all other ops, they share launches
// (compiler/lower/merge.h); while the GPU waits for its peers they would be launched one by one, and delay
// the peers in turn.
#pragma once

#include "compiler/schedule/schedule_problem.h"

namespace dfc {

/// Marks the tasks of `problem` that are late. They and their values are small, so that values which live to
/// the end of the step hold little memory.
void markLateUpdates(const PlacedGraph& placed, const Machine& machine, ScheduleProblem& problem);

/// Late are then only tasks behind which all are late, on the same group.
void unmarkWhatOthersNeed(ListProblem& problem);

} // namespace dfc
