// The verifier of task schedules: it takes what the planner makes, and refuses each way to break it.
#include "compiler/tasks/verify_tasks.h"

#include "compiler/tasks/heft.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"

namespace dfc::test {
namespace {

/// Two tasks on device 0, and on device 1 one reader of each; 10 bytes over one link of 1 byte a second.
TaskGraph twoCopies() {
  TaskGraph graph;
  graph.queues = {2, 2};
  graph.linkSlots = {1};
  graph.hops = {{0, 1, {0, 1}, {0}}};
  graph.paths.resize(4);
  graph.paths[1] = {0};
  graph.communication = {{infiniteSeconds, 0}, {0, 1}, {infiniteSeconds, 0}, {infiniteSeconds, 0}};
  for (int i = 0; i < 4; ++i) {
    TaskRow task;
    task.seconds = {i < 2 ? 1 : infiniteSeconds, i < 2 ? infiniteSeconds : 5};
    graph.tasks.add(task);
  }
  graph.addEdge(TaskId(0), TaskId(2), 10);
  graph.addEdge(TaskId(1), TaskId(3), 10);
  return graph;
}

std::string firstError(const TaskGraph& graph, const TaskSchedule& schedule) {
  const Diagnostics errors = verifyTaskSchedule(graph, schedule);
  return errors.empty() ? "" : errors.front().message;
}

} // namespace

TEST_CASE("copies over one link wait for one another, and the verifier agrees") {
  const TaskGraph graph = twoCopies();
  const TaskSchedule schedule = heft(graph);
  CHECK(firstError(graph, schedule).empty());
  CHECK(schedule.makespan == 1 + 10 + 10 + 5); // both tasks at once, one copy after the other
  // Item 0 lives on device 0 from 0 to 11, item 1 from 0 to 21, on device 1 from 1 to 16 and from 11 to 26.
  CHECK(peakBytes(graph, schedule) == std::vector<double>{20, 20});
}

TEST_CASE("the verifier of task schedules refuses each damage") {
  const TaskGraph graph = twoCopies();
  const TaskSchedule good = heft(graph);
  const auto damaged = [&](auto damage) {
    TaskSchedule bad = good;
    damage(bad);
    return firstError(graph, bad);
  };
  CHECK_THAT(damaged([](TaskSchedule& bad) { bad.tasks[TaskId(2)].device = 0; }), containing("cannot run"));
  CHECK_THAT(damaged([](TaskSchedule& bad) { bad.tasks[TaskId(0)].start = -1; }),
             containing("before its device"));
  CHECK_THAT(damaged([](TaskSchedule& bad) { bad.tasks[TaskId(0)].end = 0.5; }),
             containing("less than it needs"));
  CHECK_THAT(damaged([](TaskSchedule& bad) { bad.makespan = 20; }), containing("after the makespan"));
  CHECK_THAT(damaged([](TaskSchedule& bad) { bad.tasks[TaskId(2)].start -= 1; }),
             containing("before the data"));
  CHECK_THAT(damaged([](TaskSchedule& bad) { bad.transfers.pop_back(); }), containing("before the data"));
  CHECK_THAT(damaged([](TaskSchedule& bad) { bad.transfers[0].start += 1; }),
             containing("less than it needs"));
  CHECK_THAT(damaged([](TaskSchedule& bad) {
               bad.transfers[0].start -= 1;
               bad.transfers[0].end -= 1;
             }),
             containing("before the item"));
  CHECK_THAT(damaged([](TaskSchedule& bad) {
               bad.transfers[1].start -= 5;
               bad.transfers[1].end -= 5;
             }),
             containing("link 0 does more than 1"));
  TaskGraph narrow = graph;
  narrow.queues = {1, 2};
  CHECK_THAT(firstError(narrow, good), containing("device 0 does more than 1"));
}

} // namespace dfc::test
