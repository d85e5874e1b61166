// Task graphs of the literature, small, on four machines: schedules of every policy are feasible, no shorter
// than the lower bound, and auto is the shortest; equal seeds and steps give equal schedules.
#include "compiler/tasks/file/tasks_file.h"
#include "compiler/tasks/heft.h"
#include "compiler/tasks/placed_tasks.h"
#include "compiler/tasks/plan_tasks.h"
#include "compiler/tasks/task_bounds.h"
#include "compiler/tasks/verify_tasks.h"
#include "tests/support/catch.h"
#include "tools/bench/graphs/task_families.h"

#include <cmath>

namespace dfc::test {
namespace {

TaskProblem generated(const bench::TaskFamilyOptions& options) {
  auto machine = parseTaskMachine(bench::taskMachineText(options.machine), "machine.json");
  INFO((machine.ok() ? "" : render(machine.errors())));
  REQUIRE(machine.ok());
  auto problem = parseTasks(bench::taskFamilyText(options), "tasks.json", *machine);
  INFO((problem.ok() ? "" : render(problem.errors())));
  REQUIRE(problem.ok());
  return *std::move(problem);
}

TaskPlan planned(const TaskProblem& problem, const std::string& policy, uint64_t steps) {
  TaskPlanOptions options;
  options.policy = policy;
  options.steps = steps;
  options.capacities = problem.capacities;
  auto plan = planTasks(problem.graph, options);
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

/// Calls `use` with every family on every machine at every ratio.
template <class Use>
void forEachGenerated(size_t tasks, const Use& use) {
  for (const std::string_view family : bench::taskFamilies()) {
    for (const std::string_view machine : bench::taskMachines()) {
      for (const double ratio : {0.1, 1.0, 10.0}) {
        INFO(family << " on " << machine << " at " << ratio);
        use(generated({family, machine, tasks, ratio, 5}));
      }
    }
  }
}

} // namespace

TEST_CASE("tasks: every policy is feasible and above the bound, and auto is the shortest") {
  double logarithms = 0;
  int cases = 0;
  forEachGenerated(40, [&](const TaskProblem& problem) {
    const TaskPlan best = planned(problem, "auto", 200);
    for (const TaskPolicyRow& policy : taskPolicies()) {
      if (policy.name == "exact") {
        continue; // larger than it takes
      }
      INFO(policy.name);
      const TaskPlan plan = planned(problem, std::string(policy.name), 200);
      CHECK(verifyTaskSchedule(problem.graph, plan.schedule).empty());
      CHECK(taskBounds(problem.graph).best() <= plan.schedule.makespan);
      CHECK(best.lowerBound <= plan.schedule.makespan);
      CHECK(best.schedule.makespan <= plan.schedule.makespan);
      if (policy.name == "heft") {
        logarithms += std::log(best.schedule.makespan / plan.schedule.makespan);
        ++cases;
      }
    }
  });
  CHECK(cases == 8 * 4 * 3);
  CHECK(std::exp(logarithms / cases) <= 0.94); // shorter than HEFT by 6 % on the geometric mean
}

TEST_CASE("tasks: equal seeds and steps give equal schedules") {
  const TaskProblem problem = generated({"gauss", "switch", 60, 1, 9});
  const auto text = [&] {
    const TaskPlan plan = planned(problem, "auto", 300);
    return printTaskSchedule(problem, plan.schedule, {plan.lowerBound, plan.policy});
  };
  CHECK(text() == text());
}

TEST_CASE("tasks: the list scheduler keeps placements and routes, and is never worse") {
  forEachGenerated(30, [&](const TaskProblem& problem) {
    const TaskSchedule before = heft(problem.graph);
    const TaskSchedule after = reordered(problem.graph, before);
    CHECK(verifyTaskSchedule(problem.graph, after).empty());
    CHECK(after.makespan <= before.makespan);
    CHECK(after.transfers.size() == before.transfers.size());
    for (const TaskId task : problem.graph.tasks.ids()) {
      CHECK(after.tasks[task].device == before.tasks[task].device);
    }
  });
}

TEST_CASE("tasks: branch and bound is no longer than any other policy, and proves it") {
  int proofs = 0;
  for (const std::string_view machine : {"pcie", "ideal"}) {
    for (const std::string_view family : {"gauss", "cholesky", "fork_join"}) {
      INFO(family << " on " << machine);
      const TaskProblem problem = generated({family, machine, 7, 1, 2});
      if (problem.graph.tasks.size() > 9) {
        continue; // would take minutes
      }
      ++proofs;
      const TaskPlan exact = planned(problem, "exact", 100);
      CHECK(exact.proven);
      for (const TaskPolicyRow& policy : taskPolicies()) {
        CHECK(planned(problem, std::string(policy.name), 100).schedule.makespan >=
              exact.schedule.makespan * (1 - 1e-9));
      }
    }
  }
  CHECK(proofs >= 2);
}

TEST_CASE("tasks: data that no device can hold is refused") {
  const TaskProblem problem = generated({"stencil", "nvlink", 30, 1, 1});
  TaskPlanOptions options;
  options.steps = 50;
  options.capacities.assign(problem.devices.size(), 1e6); // an item has 10 MB
  const auto plan = planTasks(problem.graph, options);
  REQUIRE(!plan.ok());
  CHECK(plan.errors()[0].message == "policy 'auto' found no schedule whose data fits into the devices");
  options.capacities.assign(problem.devices.size(), 1e9);
  CHECK(planTasks(problem.graph, options).ok());
}

TEST_CASE("tasks: an unknown policy and a graph too large for exact say the way out") {
  const TaskProblem problem = generated({"stencil", "nvlink", 30, 1, 1});
  TaskPlanOptions options;
  options.policy = "hefd";
  CHECK(planTasks(problem.graph, options).errors()[0].hint == "did you mean 'heft'?");
  options.policy = "exact";
  CHECK(planTasks(problem.graph, options).errors()[0].message ==
        "exact plans up to 12 tasks on a machine with links, not 30");
}

} // namespace dfc::test
