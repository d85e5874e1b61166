#include "compiler/tasks/plan_tasks.h"

#include "compiler/tasks/exact.h"
#include "compiler/tasks/heft.h"
#include "compiler/tasks/peft.h"
#include "compiler/tasks/task_bounds.h"
#include "compiler/tasks/task_planning.h"
#include "compiler/tasks/verify_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace dfc {
namespace {

constexpr std::array taskPolicyRows = {
#define DFC_TASK_POLICY(function, name, what) TaskPolicyRow{name, what},
#include "compiler/tasks/task_policies.def"
#undef DFC_TASK_POLICY
};
constexpr std::array taskPolicyRuns = {
#define DFC_TASK_POLICY(function, name, what) &(function),
#include "compiler/tasks/task_policies.def"
#undef DFC_TASK_POLICY
};

Diagnostic unknownTaskPolicy(const std::string& name) {
  std::vector<std::string> names;
  for (const TaskPolicyRow& row : taskPolicyRows) {
    names.emplace_back(row.name);
  }
  const auto near = nearestName(name, names);
  return errorWithoutPlace(fmt::format("there is no policy '{}' for tasks", name),
                           near ? fmt::format("did you mean '{}'?", *near)
                                : fmt::format("the policies are {}", fmt::join(names, ", ")));
}

Diagnostic whyNoPlan(const TaskPlanning& planning) {
  if (planning.tooLarge()) {
    return errorWithoutPlace(fmt::format("policy '{}' found no schedule whose data fits into the devices",
                                         planning.options.policy),
                             "raise \"mem\" in the machine file, or try another policy (auto tries most)");
  }
  if (planning.lowerBound == infiniteSeconds) {
    return errorWithoutPlace("no schedule has a route for every copy: a task can run on no device that the "
                             "data of its predecessors reaches",
                             "add routes to the machine file");
  }
  return errorWithoutPlace(
      fmt::format("policy '{}' found no schedule in which every copy has a route; there may be one",
                  planning.options.policy),
      "try --policy=auto, or exact for a small graph, or add routes to the machine file");
}

Result<TaskPlan> planOf(TaskPlanning& planning) {
  if (planning.best().empty()) {
    return whyNoPlan(planning);
  }
  const TaskCandidate& best = planning.best().front();
  const Diagnostics errors = verifyTaskSchedule(planning.graph, best.schedule);
  DFC_ASSERT(errors.empty(), "a policy broke its contract:\n" + render(errors));
  TaskPlan plan{best.schedule, best.name, best.device, planning.lowerBound,
                planning.proven || planning.meetsBound()};
  plan.lowerBound = plan.proven ? plan.schedule.makespan : std::min(plan.lowerBound, plan.schedule.makespan);
  return plan;
}

} // namespace

llvm::ArrayRef<TaskPolicyRow> taskPolicies() { return taskPolicyRows; }

Result<TaskPlan> planTasks(const TaskGraph& graph, const TaskPlanOptions& options) {
  for (size_t i = 0; i < taskPolicyRows.size(); ++i) {
    if (taskPolicyRows[i].name != options.policy) {
      continue;
    }
    if (graph.tasks.empty()) {
      return TaskPlan{{}, options.policy, TaskPlan::noPlanDevice, 0, true};
    }
    for (const TaskRow& task : graph.tasks) {
      DFC_ASSERT(!task.floating && !task.follows.valid(), "bounds and exact know no parameters");
    }
    if (options.policy == "exact" && graph.tasks.size() > mostTasksForExact(graph)) {
      return errorWithoutPlace(fmt::format("exact plans up to {} tasks{}, not {}", mostTasksForExact(graph),
                                           graph.hasExplicitCopies() ? " on a machine with links" : "",
                                           graph.tasks.size()),
                               "use --policy=auto, which prints a lower bound beside its schedule");
    }
    TaskPlanning planning(graph, options);
    taskPolicyRuns[i](planning);
    return planOf(planning);
  }
  return unknownTaskPolicy(options.policy);
}

TaskPlanning::TaskPlanning(const TaskGraph& tasks, const TaskPlanOptions& chosen)
    : graph(tasks), options(chosen), lowerBound(taskBounds(tasks).best()),
      limited_(std::any_of(chosen.capacities.begin(), chosen.capacities.end(),
                           [](double bytes) { return bytes < infiniteSeconds; })) {}

bool TaskPlanning::fits(const TaskSchedule& schedule) const {
  if (!limited_) {
    return true;
  }
  const std::vector<double> peaks = peakBytes(graph, schedule);
  for (size_t device = 0; device < peaks.size(); ++device) {
    if (peaks[device] > options.capacities[device]) {
      return false;
    }
  }
  return true;
}

void TaskPlanning::offer(TaskCandidate candidate) {
  constexpr size_t kept = 3;
  const double makespan = candidate.schedule.makespan;
  const auto place = std::find_if(best_.begin(), best_.end(), [&](const TaskCandidate& one) {
    return makespan <= one.schedule.makespan;
  });
  if (!std::isfinite(makespan) || (place == best_.end() && best_.size() == kept) ||
      (place != best_.end() && place->schedule.makespan == makespan)) {
    return;
  }
  if (!fits(candidate.schedule)) {
    tooLarge_ = true;
    return;
  }
  best_.insert(place, std::move(candidate));
  best_.resize(std::min(best_.size(), kept));
}

void planByHeft(TaskPlanning& planning) {
  planning.offer({"heft", anyDevice, heft(planning.graph), orderByRank(upwardRanks(planning.graph))});
}

void planByPeft(TaskPlanning& planning) { planning.offer({"peft", anyDevice, peft(planning.graph), {}}); }

void planOnOneDevice(TaskPlanning& planning) {
  singleCandidates(
      planning.graph, [] { return false; },
      [&](TaskCandidate candidate) { planning.offer(std::move(candidate)); });
}

void planByClusters(TaskPlanning& planning) {
  clusterCandidates(planning.graph, [&](TaskCandidate candidate) { planning.offer(std::move(candidate)); });
}

} // namespace dfc
