// lowerBounds: lower bounds on the makespan of a list-scheduling problem, which hold for every order of its
// tasks.
#pragma once

#include "compiler/schedule/list_schedule.h"
#include "ir/plan/schedule.h"

namespace dfc {

/// A task of a one-machine problem with heads and tails; the machine may preempt tasks.
struct OneMachineTask {
  double head = 0; ///< earliest start in seconds
  double work = 0; ///< seconds on the machine
  double tail = 0; ///< seconds at least between the task's end and the end of the whole
};
/// The optimal makespan with preemption, by Jackson's preemptive schedule: at every moment the available task
/// with the longest tail runs. O(n log n). Source: Jackson 1955; as a bound for schedules without preemption:
/// Carlier 1982, "The one-machine sequencing problem".
double oneMachineBound(std::vector<OneMachineTask> tasks);

LowerBounds lowerBounds(const ListProblem& problem);

/// The bounds without the rounding by which they exceed the makespan of a schedule that reaches them: both
/// are sums of the same seconds, in different orders. A larger excess stays, for the verifier to find.
LowerBounds withoutRounding(LowerBounds bounds, double makespan);

} // namespace dfc
