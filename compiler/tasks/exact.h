// exact: the shortest schedule of a small task graph, by depth-first branch and bound. A step of the search
// appends a task to a device, or an explicit copy to its links, no earlier than the step before: any schedule
// sorted by starts and shifted to the left is such a sequence. Bounds: heads and tails by device from the
// partial schedule, and the work that is left. No duplication of tasks, no preemption.
#pragma once

#include "compiler/tasks/task_schedule.h"

#include <functional>

namespace dfc {

/// The most tasks of a graph for which the search is meant to end: with implied copies, and with explicit
/// ones.
inline constexpr size_t mostExactTasks = 16, mostExactTasksWithCopies = 12;
size_t mostTasksForExact(const TaskGraph& graph);

struct ExactResult {
  TaskSchedule schedule; ///< the incumbent, or a shorter one
  bool proven = false;   ///< the search ended: there is no shorter one
};

/// `steps`: the most steps, 0 for no limit. `fits`: whether a schedule fits into memory; others do not count.
/// The makespan of `incumbent` is infinite where no schedule is known yet.
ExactResult exactSchedule(const TaskGraph& graph, TaskSchedule incumbent, uint64_t steps,
                          const std::function<bool()>& outOfTime,
                          llvm::function_ref<bool(const TaskSchedule&)> fits);

} // namespace dfc
