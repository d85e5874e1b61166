// savingOrderings: orderings of tasks that cost little time and let values share bytes. The scheduler tries
// them where one device computes, and keeps them if the makespan grows by at most a thousandth
// (schedule.cpp). Schedules for devices that are short of memory: compiler/memory.
#pragma once

#include "compiler/schedule/schedule_problem.h"

namespace dfc {

/// Orderings between tasks of one device, each from a smaller task to a larger one, so that they close no
/// cycle. They concern values that are alive at the device's memory peak in `times`, a list schedule of the
/// problem:
/// - the other readers of a large operand come before the op that may overwrite it (ir/plan/in_place.h), such
///   as a loss before the gradient of its logits;
/// - an op without predecessors that makes a large value (zeros, a copy of state in another type) comes no
///   sooner than the ops before its first reader's latest operand, instead of whenever the queue is idle.
std::vector<TaskOrdering> savingOrderings(const PlacedGraph& placed, const ScheduleProblem& problem,
                                          const ListResult& times);

} // namespace dfc
