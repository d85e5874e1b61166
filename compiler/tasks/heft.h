// HEFT, heterogeneous earliest finish time: rank the tasks by their longest path to an exit task, place each
// in that order where it ends first, into idle gaps where one fits. Source: Topcuoglu, Hariri, Wu,
// "Performance-effective and low-complexity task scheduling for heterogeneous computing", IEEE TPDS 13(3),
// 2002, section 4.1. Ties: lower task id first, lower device first. Where links
// are contended, each task's copies are booked on them when it is placed.
#pragma once

#include "compiler/tasks/task_schedule.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>

namespace dfc {

/// Mean cost of a copy over all pairs of devices that a path joins.
LinkCost meanCommunication(const TaskGraph& graph);

/// Upward ranks by `secondsOf` a task: that, plus the longest sum of a successor's rank and the mean seconds
/// of the copy to it times `copies`.
SideTable<TaskId, double> ranksBy(const TaskGraph& graph, double copies,
                                  llvm::function_ref<double(const TaskRow&)> secondsOf);

/// Upward ranks: mean duration over the devices where the task may run, plus the longest mean transfer and
/// rank among its successors (equation 8 of the paper).
SideTable<TaskId, double> upwardRanks(const TaskGraph& graph);

/// All tasks by rank, the highest first; of equal ranks, the lower id. Topological if no rank is below that
/// of a successor.
std::vector<TaskId> orderByRank(const SideTable<TaskId, double>& ranks);
/// All tasks in a topological order: of those whose predecessors are done, the one of highest rank.
std::vector<TaskId> readyOrder(const TaskGraph& graph, llvm::ArrayRef<double> ranks);

/// Every task gets a device where its duration is finite; asserts that each has one.
TaskSchedule heft(const TaskGraph& graph);

} // namespace dfc
