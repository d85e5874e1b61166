// The planner of task graphs on published instances: the values that their sources print, and optima that
// were proven by exhaustive search. The files are read as `dfc schedule` reads them.
#include "compiler/tasks/file/tasks_file.h"
#include "compiler/tasks/peft.h"
#include "compiler/tasks/plan_tasks.h"
#include "compiler/tasks/task_bounds.h"
#include "compiler/tasks/verify_tasks.h"
#include "runtime/executable_folder.h"
#include "tests/compiler/instance.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

#include <nlohmann/json.hpp>

namespace dfc::test {
namespace {

struct PublishedInstance {
  TaskProblem problem;
  nlohmann::json expected;
};

PublishedInstance readInstance(const std::filesystem::path& file) {
  const std::string text = readText(file);
  auto problem = parseTasks(text, file.string(), std::nullopt);
  INFO((problem.ok() ? "" : render(problem.errors())));
  REQUIRE(problem.ok());
  return {*std::move(problem), nlohmann::json::parse(text)["expected"]};
}

PublishedInstance shippedInstance(const std::string& name) {
  return readInstance(shippedFile("tests/compiler/instances") / name);
}

TaskPlan planned(const PublishedInstance& instance, const std::string& policy) {
  TaskPlanOptions options;
  options.policy = policy;
  options.capacities = instance.problem.capacities;
  auto plan = planTasks(instance.problem.graph, options);
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  CHECK(verifyTaskSchedule(instance.problem.graph, plan->schedule).empty());
  CHECK(plan->lowerBound <= plan->schedule.makespan);
  return *std::move(plan);
}

/// Those of the tree, and those beside it where they are there.
std::vector<std::filesystem::path> allInstances() {
  std::vector<std::filesystem::path> files;
  const auto add = [&](const std::filesystem::path& folder, std::initializer_list<const char*> prefixes) {
    for (const char* prefix : prefixes) {
      const auto more = instanceFiles(folder, prefix);
      files.insert(files.end(), more.begin(), more.end());
    }
  };
  add(shippedFile("tests/compiler/instances"), {"arabnejad", "topcuoglu", "contention_"});
  add(shippedFile("shared/sched_examples"), {"lit_", "auckland_", "mackncheesiest_"});
  return files;
}

} // namespace

TEST_CASE("task files: HEFT gives 80 and 133, PEFT gives 122, as published") {
  CHECK(planned(shippedInstance("topcuoglu2002.json"), "heft").schedule.makespan == 80);
  CHECK(planned(shippedInstance("topcuoglu2002_restricted.json"), "heft").schedule.makespan == 80);
  CHECK(planned(shippedInstance("arabnejad2014_peft.json"), "heft").schedule.makespan == 133);
  CHECK(planned(shippedInstance("arabnejad2014_peft.json"), "peft").schedule.makespan == 122);
}

TEST_CASE("PEFT's optimistic cost table is that of Arabnejad and Barbosa 2014") {
  const auto instance = shippedInstance("arabnejad2014_peft.json");
  const auto& expected = instance.expected["oct"];
  const std::vector<double> costs = optimisticCosts(instance.problem.graph);
  REQUIRE(costs.size() == expected.size() * 3);
  for (size_t task = 0; task < expected.size(); ++task) {
    for (size_t device = 0; device < 3; ++device) {
      CHECK(costs[task * 3 + device] == Approx(expected[task][device].get<double>()).margin(1e-3));
    }
  }
}

TEST_CASE("every policy on every published instance: feasible, not below the optimum, bounds not above it") {
  for (const auto& file : allInstances()) {
    INFO(file.filename());
    const auto instance = readInstance(file);
    const double optimal = instance.expected["optimal"];
    CHECK(taskBounds(instance.problem.graph).best() <= optimal * (1 + 1e-6)); // files round to six digits
    for (const TaskPolicyRow& policy : taskPolicies()) {
      INFO(policy.name);
      const TaskPlan plan = planned(instance, std::string(policy.name));
      CHECK(plan.schedule.makespan >= optimal * (1 - 1e-6));
      const auto computed = instance.expected.value("computed", nlohmann::json::object());
      if (policy.name == "heft" && computed.contains("HEFT")) {
        CHECK(plan.schedule.makespan == Approx(computed["HEFT"].get<double>()));
      }
      if (policy.name == "peft" && computed.contains("PEFT")) {
        CHECK(plan.schedule.makespan == Approx(computed["PEFT"].get<double>()));
      }
      if (policy.name == "exact") {
        CHECK(plan.proven);
      }
      if (policy.name == "exact" || policy.name == "auto") { // small enough for auto to prove it, too
        CHECK(plan.schedule.makespan == Approx(optimal));
      }
    }
  }
  if (!std::filesystem::is_directory(shippedFile("shared/sched_examples"))) {
    WARN("skipped: shared/sched_examples is absent");
  }
}

TEST_CASE("auto without branch and bound: local search finds 24 of 26 optima") {
  size_t seen = 0, found = 0;
  for (const auto& file : allInstances()) {
    const auto instance = readInstance(file);
    if (instance.problem.graph.hasExplicitCopies()) {
      continue;
    }
    TaskPlanOptions options;
    options.branchAndBound = false;
    const auto plan = planTasks(instance.problem.graph, options);
    ++seen;
    found += plan->schedule.makespan <= instance.expected["optimal"].get<double>() * (1 + 1e-6) ? 1 : 0;
  }
  if (seen < 26) {
    DFC_SKIP("shared/sched_examples is absent");
  }
  CHECK(seen == 26);
  CHECK(found >= 24);
}

} // namespace dfc::test
