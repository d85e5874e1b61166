// Candidates: schedules of a task graph by constructive heuristics, of which a planner takes the shortest.
#pragma once

#include "compiler/tasks/task_placer.h"

#include <functional>
#include <string>

namespace dfc {

struct TaskCandidate {
  std::string name;            ///< "heft", "single", "clusters/4/0.25"
  uint32_t device = anyDevice; ///< of "single"
  TaskSchedule schedule;
  std::vector<TaskId> order; ///< in which its tasks were placed
};

/// One schedule a device: every task that can run on it is placed there, the others where they finish
/// earliest, in the order of their upward ranks. Of identical devices only the first is tried. Stops when
/// `outOfTime` returns true.
void singleCandidates(const TaskGraph& graph, const std::function<bool()>& outOfTime,
                      const std::function<void(TaskCandidate)>& use);

/// HEFT and PEFT first; then their mixture, other ranks, other weights of the communication, fewer devices,
/// clusterings. Stops when `outOfTime` returns true, but never before HEFT and PEFT. Candidates that could
/// not be placed are left out.
void listCandidates(const TaskGraph& graph, const std::function<bool()>& outOfTime,
                    const std::function<void(TaskCandidate)>& use);

/// Clusterings alone.
void clusterCandidates(const TaskGraph& graph, const std::function<void(TaskCandidate)>& use);

/// Gives a candidate the order of its schedule's starts, made topological.
void orderByStart(TaskCandidate& candidate);

} // namespace dfc
