// TaskPlanning: what the policies of task graphs share: the graph, the options, and the best schedules so
// far. For the files of task_policies.def only.
#pragma once

#include "compiler/tasks/candidates.h"
#include "compiler/tasks/plan_tasks.h"

namespace dfc {

class TaskPlanning {
 public:
  TaskPlanning(const TaskGraph& graph, const TaskPlanOptions& options);

  const TaskGraph& graph;
  const TaskPlanOptions& options;
  double lowerBound = 0; ///< seconds, of all schedules
  bool proven = false;   ///< set by a policy whose best schedule is the shortest there is

  bool outOfTime(double part) const { return options.outOfTime && options.outOfTime(part); }
  /// Offers a schedule; one that does not fit into memory is dropped.
  void offer(TaskCandidate candidate);
  /// The shortest, the earliest on a tie; different makespans, at most three.
  const std::vector<TaskCandidate>& best() const { return best_; }
  bool tooLarge() const { return tooLarge_; } ///< whether a schedule was dropped
  /// Whether the data of the schedule fits into the devices' memory.
  bool fits(const TaskSchedule& schedule) const;
  /// Whether the makespan of the best meets the lower bound, up to rounding.
  bool meetsBound() const {
    return !best_.empty() && best_.front().schedule.makespan <= lowerBound * (1 + 2e-9);
  }

 private:
  bool limited_ = false; // whether any device has a capacity
  bool tooLarge_ = false;
  std::vector<TaskCandidate> best_;
};

#define DFC_TASK_POLICY(function, name, what) void function(TaskPlanning& planning);
#include "compiler/tasks/task_policies.def"
#undef DFC_TASK_POLICY

} // namespace dfc
