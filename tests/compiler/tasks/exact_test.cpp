// Graphs on which greedy policies or their paths go wrong: branch and bound finds the shortest schedule all
// the same, and claims no proof without it.
#include "compiler/tasks/file/tasks_file.h"
#include "compiler/tasks/plan_tasks.h"
#include "compiler/tasks/task_bounds.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

TaskProblem problemOf(const std::string& text) {
  auto problem = parseTasks(text, "tasks.json", std::nullopt);
  INFO(render(problem.errors()));
  REQUIRE(problem.ok());
  return std::move(problem).orThrow();
}

TaskPlan planBy(const std::string& policy, const TaskProblem& problem) {
  TaskPlanOptions options;
  options.policy = policy;
  options.capacities = problem.capacities;
  auto plan = planTasks(problem.graph, options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  CHECK(taskBounds(problem.graph).best() <= plan->schedule.makespan);
  return *std::move(plan);
}

/// That `exact` and `auto` give this makespan and know that no schedule is shorter.
void checkShortest(const TaskProblem& problem, double makespan) {
  for (const std::string policy : {"exact", "auto"}) {
    INFO(policy);
    const TaskPlan plan = planBy(policy, problem);
    CHECK(plan.schedule.makespan == Approx(makespan));
    CHECK(plan.proven);
  }
}

} // namespace

TEST_CASE("exact: a chain of copies that is faster than the direct route") {
  checkShortest(problemOf(R"({
    "tasks": [{"id": "P", "dur": {"c": 1}}, {"id": "R", "dur": {"g": 1}}],
    "edges": [{"src": "P", "dst": "R", "bytes": 1}],
    "machine": {"devices": [{"id": "c"}, {"id": "m"}, {"id": "g"}],
      "links": [{"id": "s", "latency": 100, "bandwidth": 1}, {"id": "a", "latency": 1, "bandwidth": 100},
                {"id": "b", "latency": 1, "bandwidth": 100}],
      "routes": [{"from": "c", "to": "g", "links": ["s"]}, {"from": "c", "to": "m", "links": ["a"]},
                 {"from": "m", "to": "g", "links": ["b"]}]}})"),
                4.02);
}

TEST_CASE("exact: a fast device from which no route leads to the next task") {
  const TaskProblem problem = problemOf(R"({
    "tasks": [{"id": "A1", "dur": {"g": 1, "c1": 50}}, {"id": "B1", "dur": {"c1": 1}},
              {"id": "A2", "dur": {"g": 1, "c2": 50}}, {"id": "B2", "dur": {"c2": 1}}],
    "edges": [{"src": "A1", "dst": "B1", "bytes": 1}, {"src": "A2", "dst": "B2", "bytes": 1}],
    "machine": {"devices": [{"id": "g"}, {"id": "c1"}, {"id": "c2"}],
      "links": [{"id": "s", "latency": 0, "bandwidth": 1}],
      "routes": [{"from": "c1", "to": "g", "links": ["s"]}, {"from": "c2", "to": "g", "links": ["s"]}]}})");
  checkShortest(problem, 51);
  CHECK(planBy("heft", problem).schedule.makespan == Approx(51));
}

TEST_CASE("exact: a task of no duration runs beside one that keeps the device busy") {
  // Z has to run on P while A does, so that B begins as soon as its data is there.
  checkShortest(problemOf(R"({
    "tasks": [{"id": "A", "dur": {"P": 10}}, {"id": "S", "dur": {"Q": 1}}, {"id": "Z", "dur": {"P": 0}},
              {"id": "B", "dur": {"Q": 9}}],
    "edges": [{"src": "S", "dst": "Z", "bytes": 0}, {"src": "Z", "dst": "B", "bytes": 0}],
    "machine": {"devices": [{"id": "P"}, {"id": "Q"}],
      "links": [{"id": "l", "latency": 0, "bandwidth": 1}],
      "routes": [{"from": "P", "to": "Q", "links": ["l"]}, {"from": "Q", "to": "P", "links": ["l"]}]}})"),
                10);
}

TEST_CASE("exact: of schedules within a memory limit the shortest") {
  // Side by side the two results of 8 bytes would be on P at once.
  const std::string tasks = R"({
    "tasks": [{"id": "A", "dur": {"P": 1, "Q": 5}}, {"id": "B", "dur": {"P": 1, "Q": 5}},
              {"id": "C", "dur": {"P": 1, "Q": 5}}],
    "edges": [{"src": "A", "dst": "C", "bytes": 8}, {"src": "B", "dst": "C", "bytes": 8}],
    "machine": {"devices": [{"id": "P", "mem": )";
  const std::string machine = R"(}, {"id": "Q"}],
      "links": [{"id": "l", "latency": 1, "bandwidth": 8}],
      "routes": [{"from": "P", "to": "Q", "links": ["l"]}, {"from": "Q", "to": "P", "links": ["l"]}]}})";
  checkShortest(problemOf(tasks + "100" + machine), 3);
  const TaskPlan tight = planBy("exact", problemOf(tasks + "9" + machine));
  CHECK(tight.schedule.makespan > 3);
  CHECK(tight.proven);
}
