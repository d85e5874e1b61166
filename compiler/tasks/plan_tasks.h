// planTasks: a schedule of a task graph by a policy, verified, with a lower bound.
#pragma once

#include "compiler/tasks/task_schedule.h"
#include "ir/base/diagnostic.h"

#include <llvm/ADT/ArrayRef.h>

#include <functional>
#include <string>
#include <string_view>

namespace dfc {

struct TaskPlanOptions {
  std::string policy = "auto"; ///< a row of task_policies.def
  uint64_t steps = 0;          ///< trial schedules of local search; 0 for as many as suit the graph's size
  uint64_t seed = 1;           ///< of local search
  bool branchAndBound = true;  ///< whether `auto` tries to prove small graphs' schedules the shortest
  /// Whether this part, 0 to 1, of the time for planning has passed; empty: infiniteSeconds.
  std::function<bool(double)> outOfTime;
  std::vector<double> capacities; ///< by device: bytes; empty for no limit
};

struct TaskPlan {
  TaskSchedule schedule;
  std::string policy; ///< the policy or candidate that won: "heft", "clusters/4/0.25, local search"
  uint32_t device = noPlanDevice; ///< of "single"
  double lowerBound = 0;          ///< seconds; equals the makespan if that is proven optimal
  bool proven = false;            ///< whether no schedule is shorter, by branch and bound or by the bound
  static constexpr uint32_t noPlanDevice = static_cast<uint32_t>(-1);
};

/// Errors: an unknown policy; a graph too large for `exact`; no placement of the policy whose copies all have
/// a route, or whose data fits in the devices. Equal options give equal plans where `outOfTime` never says
/// so.
Result<TaskPlan> planTasks(const TaskGraph& graph, const TaskPlanOptions& options);

struct TaskPolicyRow {
  std::string_view name, what;
};
llvm::ArrayRef<TaskPolicyRow> taskPolicies();

} // namespace dfc
