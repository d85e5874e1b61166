// PlacedTasks: the tasks and copies of a schedule as the list scheduler sees them, and back. The list
// scheduler (compiler/schedule) then orders them anew, with the priorities that it has for tensors.
#pragma once

#include "compiler/schedule/list_schedule.h"
#include "compiler/tasks/task_schedule.h"

namespace dfc {

struct PlacedTasks {
  ListProblem list;
  std::vector<TaskId> taskOf;         ///< by list task; invalid for a copy
  std::vector<TaskTransfer> transfer; ///< by list task; of copies
};

/// The devices and the routes of the copies are those of `schedule`; its times are dropped. Where copies are
/// implied, each is a task of the list that occupies nothing.
PlacedTasks placedTasks(const TaskGraph& graph, const TaskSchedule& schedule);
TaskSchedule scheduleOf(const TaskGraph& graph, const PlacedTasks& placed, const ListResult& result);

/// The shortest of `schedule` and the list schedules of its placement: by each priority of
/// compiler/schedule/priorities.def, by the schedule's own order, depth first, and by forward-backward
/// improvement of the shortest of these.
TaskSchedule reordered(const TaskGraph& graph, TaskSchedule schedule);

} // namespace dfc
