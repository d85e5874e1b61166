// taskGraphOf: a tensor graph as a TaskGraph, which planners see.
#pragma once

#include "compiler/place/place.h"
#include "compiler/tasks/task_schedule.h"

namespace dfc {

/// Implied copies take the time of their path; explicit copies are booked on links, which they hold.
enum class Copies : uint8_t { Implied, Explicit };

struct TensorTasks {
  TaskGraph graph;
  SideTable<OpId, TaskId> taskOf; ///< invalid for constants and unassigned parameters
  std::vector<DeviceId> devices;  ///< by the task graph's index
  bool runs = true;               ///< whether each task can run on one of them
};

/// `computing`: the devices that ops without a pin may run on; the task graph also has the host, the devices
/// of pins, and those between them on a path, for the tasks that cannot run elsewhere. Inputs run on the
/// host. Constants and parameters that no step assigns may have copies on every device at no cost, so they
/// are no tasks.
TensorTasks taskGraphOf(const PlacementProblem& problem, llvm::ArrayRef<DeviceId> computing, Copies copies);

/// The placement that a schedule of these tasks means. Constants and parameters that no step assigns are
/// placed where their first reader runs, unless pinned.
Placement placementOf(const TaskSchedule& schedule, const TensorTasks& tasks, const PlacementProblem& problem,
                      std::string policy);

/// Puts every parameter and constant without a pin where its first reader runs, an assigned parameter where
/// its assign does.
void settleResidents(Placement& placement, const PlacementProblem& problem);

} // namespace dfc
