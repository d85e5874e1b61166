// verifyTaskSchedule: whether a schedule can be executed: what shared/check/score_schedule.py checks too.
#pragma once

#include "compiler/tasks/task_schedule.h"
#include "ir/base/diagnostic.h"

namespace dfc {

/// All errors of a schedule, at most 20: a task on a device where it may not run, or for too short a time; a
/// device that runs more tasks at once than it has queues, or a link that carries more copies than it has
/// slots; a task that starts, or a copy, before its data is there. Times may be off by 1e-9 of the makespan.
Diagnostics verifyTaskSchedule(const TaskGraph& graph, const TaskSchedule& schedule);

/// By device: the most bytes alive at once. An item lives on its producer's device from the producer's start,
/// elsewhere from its copy's start, until its last reader there ends; where copies are implied, only on its
/// producer's device.
std::vector<double> peakBytes(const TaskGraph& graph, const TaskSchedule& schedule);

} // namespace dfc
