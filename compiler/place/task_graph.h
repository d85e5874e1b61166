// TaskGraph: a computation as placement policies see it: a weighted DAG with a duration for every task on
// every device. It is made from a tensor graph (`taskGraphOf`) or from a published instance, so the published
// examples test the code that places tensors.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

#include <limits>

namespace dfc {

using TaskId = Id<struct TaskTag>;

struct TaskEdge {
  TaskId other;
  double bytes = 0;
};

struct TaskRow {
  llvm::SmallVector<double, 4> seconds; ///< by device; infinity where the task may not run
  llvm::SmallVector<TaskEdge, 2> predecessors, successors;
  /// A floating task (a parameter) takes no time and no queue; it is placed where its first placed successor
  /// runs.
  bool floating = false;
  /// A task (the assign of a parameter) that must run on the device of this floating task.
  TaskId follows = {};
};

/// The cost of a copy between two devices without contention: latency + bytes * secondsPerByte.
struct LinkCost {
  double latency = 0, secondsPerByte = 0;
};

/// Task ids are a topological order.
struct TaskGraph {
  Table<TaskId, TaskRow> tasks;
  llvm::SmallVector<uint32_t, 4> queues; ///< by device: how many tasks run at once
  llvm::SmallVector<double, 4> begins;   ///< by device: seconds before which it runs nothing; empty for 0
  std::vector<LinkCost> communication;   ///< from-major matrix, devices x devices
  SideTable<OpId, TaskId> taskOf; ///< for a tensor graph; invalid for constants and unassigned parameters

  size_t deviceCount() const { return queues.size(); }
  double transferSeconds(size_t from, size_t to, double bytes) const;
  void addEdge(TaskId from, TaskId to, double bytes);
};

/// `pins`: the device that an op must run on, invalid for none. Inputs run on the host. Constants and
/// parameters that no step assigns may have copies on every device at no cost, so they are no tasks.
TaskGraph taskGraphOf(const Graph& graph, const Machine& machine, const CostModel& cost,
                      const SideTable<OpId, DeviceId>& pins);

} // namespace dfc
