// TaskSchedule: which device runs each task, when, and the copies between devices.
#pragma once

#include "compiler/tasks/task_graph.h"

namespace dfc {

inline constexpr uint32_t anyDevice = std::numeric_limits<uint32_t>::max(); ///< not chosen yet

struct TaskPlacement {
  uint32_t device = 0;
  double start = 0, end = 0; ///< seconds
};

/// An explicit copy of an item over one hop.
struct TaskTransfer {
  ItemId item;
  uint32_t hop = 0;          ///< of the graph
  double start = 0, end = 0; ///< seconds
};

struct TaskSchedule {
  SideTable<TaskId, TaskPlacement> tasks;
  std::vector<TaskTransfer> transfers; ///< a chain of hops in its order
  /// Seconds; infinite where a task could not be placed, as no route leads to any of its devices.
  double makespan = 0;
};

} // namespace dfc
