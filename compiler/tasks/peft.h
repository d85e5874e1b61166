// PEFT, predict earliest finish time: each task goes where its end plus an optimistic cost of all that
// follows is smallest. Source: Arabnejad, Barbosa, "List scheduling algorithm for heterogeneous systems by an
// optimistic cost table", IEEE TPDS 25(3), 2014.
#pragma once

#include "compiler/tasks/task_schedule.h"

namespace dfc {

/// Optimistic cost table, a row of devices a task: seconds from the end of the task on that device to the end
/// of all, if every successor had the best device to itself and copies took their mean time (equation 5 of
/// the paper).
std::vector<double> optimisticCosts(const TaskGraph& graph);
/// By task: the mean of its row (equation 6 of the paper).
std::vector<double> optimisticRanks(const TaskGraph& graph, const std::vector<double>& costs);

TaskSchedule peft(const TaskGraph& graph);

} // namespace dfc
