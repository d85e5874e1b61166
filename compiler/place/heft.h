// HEFT, heterogeneous earliest finish time: rank the tasks by their longest way to the exit, place each in
// that order where it ends first, into idle gaps where one fits. Source: Topcuoglu, Hariri, Wu,
// "Performance-effective and low-complexity task scheduling for heterogeneous computing", IEEE TPDS 13(3),
// 2002, section 4.1. Ties as in shared/sched_examples: lower task id first, lower device first.
#pragma once

#include "compiler/place/task_graph.h"

namespace dfc {

struct TaskPlacement {
  uint32_t device = 0;
  double start = 0, end = 0; ///< seconds, contention-free
};

struct HeftSchedule {
  SideTable<TaskId, TaskPlacement> tasks;
  double makespan = 0;
};

/// Upward ranks: mean duration over the devices where the task may run, plus the longest mean transfer and
/// rank among its successors (equation 8 of the paper).
SideTable<TaskId, double> upwardRanks(const TaskGraph& graph);

/// Every task gets a device where its duration is finite; asserts that each has one.
HeftSchedule heft(const TaskGraph& graph);

} // namespace dfc
