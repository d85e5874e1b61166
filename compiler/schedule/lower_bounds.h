// Lower bounds on the makespan of a list-scheduling problem: what no schedule can beat, whatever its order.
#pragma once

#include "compiler/schedule/list_schedule.h"
#include "ir/plan/schedule.h"

namespace dfc {

/// A task as a resource sees it that works on one task at a time and may interrupt one for another.
struct OneMachineTask {
  double head = 0; ///< not before
  double work = 0; ///< seconds of the resource
  double tail = 0; ///< what follows at least, once the task has ended
};
/// The least possible end of the last tail: what Jackson's preemptive schedule reaches, which at every moment
/// works on the task with the longest tail among those there. O(n log n). Source: Jackson 1955; as a bound
/// for schedules that may not interrupt: Carlier 1982, "The one-machine sequencing problem".
double oneMachineBound(std::vector<OneMachineTask> tasks);

LowerBounds lowerBounds(const ListProblem& problem);

} // namespace dfc
