// The list scheduler on small graphs over contended links, whose optima were proven by exhaustive search.
#include "compiler/schedule/list_schedule.h"
#include "compiler/schedule/priorities.h"
#include "runtime/executable_folder.h"
#include "tests/compiler/instance.h"
#include "tests/support/catch.h"

#include <random>

namespace dfc::test {
namespace {

const std::filesystem::path instances = shippedFile("tests/compiler/instances");

bool overlap(const ListResult& result, size_t a, size_t b) {
  return result.start[a] < result.end[b] && result.start[b] < result.end[a];
}

// Precedence, begins, durations, one task a queue, no more than its slots through a link at once.
void checkFeasible(const ListProblem& problem, const ListResult& result) {
  for (size_t task = 0; task < problem.tasks.size(); ++task) {
    for (const uint32_t before : problem.tasks[task].before) {
      CHECK(result.end[before] <= result.start[task]);
    }
    CHECK(result.start[task] >= problem.beginOf(problem.tasks[task].group));
    CHECK(result.end[task] >= result.start[task] + problem.tasks[task].seconds - 1e-9);
    for (size_t other = 0; other < task; ++other) {
      const bool sameQueue = problem.tasks[task].group == problem.tasks[other].group &&
                             result.queue[task] == result.queue[other];
      CHECK(!(sameQueue && overlap(result, task, other)));
    }
    for (const uint32_t link : problem.tasks[task].links) {
      uint32_t users = 0; // at the moment this task starts
      for (size_t other = 0; other < problem.tasks.size(); ++other) {
        const auto& links = problem.tasks[other].links;
        users += std::find(links.begin(), links.end(), link) != links.end() &&
                         result.start[other] <= result.start[task] && result.end[other] > result.start[task]
                     ? 1U
                     : 0U;
      }
      CHECK((problem.linkSlots[link] == 0 || users <= problem.linkSlots[link]));
    }
  }
}

} // namespace

TEST_CASE("list scheduling reaches the proven optimum on every contention instance") {
  const auto files = instanceFiles(instances, "contention_");
  REQUIRE(files.size() == 12);
  for (const auto& file : files) {
    INFO(file.filename());
    const auto instance = readContention(file);
    const ListResult result = listSchedule(instance.problem);
    checkFeasible(instance.problem, result);
    CHECK(result.makespan == Approx(instance.optimal));
  }
}

TEST_CASE("random list schedules are feasible and never shorter than the critical path") {
  std::mt19937 random(7);
  const auto draw = [&](uint32_t most) { return std::uniform_int_distribution<uint32_t>(0, most)(random); };
  for (int trial = 0; trial < 60; ++trial) {
    ListProblem problem;
    if (trial % 2 == 1) {
      problem.groupBegins = {0, 1.5, 3};
    }
    problem.groupQueues = {1, 2, 1};
    problem.linkSlots = {1, 2, 0};
    for (uint32_t task = 0; task < 40; ++task) {
      ListTask row;
      row.seconds = draw(4); // zero durations too
      row.group = draw(2);
      row.scope = draw(3);
      row.utilisation = trial % 3 == 0 ? 0 : 0.25 * draw(4);
      if (row.group == 2) {
        row.links.push_back(draw(2));
      }
      for (uint32_t before = task > 6 ? task - 6 : 0; before < task; ++before) {
        if (draw(3) == 0) {
          row.before.push_back(before);
        }
      }
      row.microBatch = draw(3) == 0 ? noMicroBatch : static_cast<uint32_t>(draw(4));
      problem.tasks.push_back(row);
    }
    const auto ranks = upwardRanks(problem);
    for (const PriorityRow& priority : allPriorities()) {
      INFO(priority.name);
      for (const IdleQueues idle : {IdleQueues::TakeAny, IdleQueues::MayWait}) {
        const ListResult result = listSchedule(problem, priority.ranks(problem), idle);
        checkFeasible(problem, result);
        CHECK(result.makespan >= *std::max_element(ranks.begin(), ranks.end()));
      }
    }
  }
}

namespace {

ListTask taskOf(double seconds, uint32_t group, std::initializer_list<uint32_t> before = {}) {
  ListTask task;
  task.seconds = seconds;
  task.group = group;
  task.before.append(before.begin(), before.end());
  return task;
}

} // namespace

TEST_CASE("a queue that may wait stays idle for a task on which another device waits") {
  // Chain: task 0 (queue 0, 1 s), copy (queue 1, 0.1 s), task 2 (queue 0, 5 s), task 3 (queue 2, 5 s).
  // Independent: task 4 (queue 0, 4 s).
  ListProblem problem;
  problem.groupQueues = {1, 1, 1};
  problem.linkSlots = {1};
  problem.tasks = {taskOf(1, 0), taskOf(0.1, 1, {0}), taskOf(5, 0, {1}), taskOf(5, 2, {2}), taskOf(4, 0)};
  problem.tasks[1].links = {0};
  const std::vector<double> ranks = upwardRanks(problem);
  CHECK(listSchedule(problem, ranks).makespan == Approx(1 + 4 + 5 + 5));
  const ListResult waiting = listSchedule(problem, ranks, IdleQueues::MayWait);
  CHECK(waiting.makespan == Approx(1 + 0.1 + 5 + 5));
  CHECK(waiting.start[4] == Approx(1 + 0.1 + 5));
  problem.tasks[4].seconds = 0.1; // fits before the copy ends
  CHECK(listSchedule(problem, ranks, IdleQueues::MayWait).start[4] == Approx(1));
}

TEST_CASE("sending ranks: a short task that leads to a copy goes before a product") {
  // Chain: product (queue 0, 10 s), slice (queue 0, 0.1 s), copy (queue 1, 5 s), task 4 (queue 2, 3 s).
  // Second chain: two products (queue 0, 10 s each).
  ListProblem problem;
  problem.groupQueues = {1, 1, 1};
  problem.linkSlots = {1};
  problem.tasks = {taskOf(10, 0),     taskOf(10, 0),     taskOf(0.1, 0, {0}),
                   taskOf(5, 1, {2}), taskOf(3, 2, {3}), taskOf(10, 0, {1})};
  problem.tasks[3].links = {0};
  const std::vector<double> ranks = sendingRanks(problem);
  CHECK(ranks[2] > *std::max_element(ranks.begin() + 3, ranks.end()));
  CHECK(ranks[2] > std::max(ranks[0], ranks[1]));
  CHECK(listSchedule(problem).makespan == Approx(10 + 10 + 10 + 0.1 + 5 + 3));
  CHECK(listSchedule(problem, ranks).makespan < 10 + 10 + 10 + 0.1 + 5);
  problem.tasks[3].links.clear();
  CHECK(sendingRanks(problem).empty());
  CHECK(sendingRanks({}).empty());
}

TEST_CASE("a task takes the queue of its predecessor, so that no queue waits for another") {
  // Two chains of two tasks of 1 s on two queues. Both queues are free at 1 s, and the chain of queue 1 goes
  // first then: it has to leave queue 0 to the other chain.
  ListProblem problem;
  problem.groupQueues = {2};
  problem.tasks.resize(4);
  for (ListTask& task : problem.tasks) {
    task.seconds = 1;
  }
  problem.tasks[2].before = {0};
  problem.tasks[3].before = {1};
  const ListResult result = listSchedule(problem, {4, 3, 1, 2});
  int waits = 0;
  for (size_t task = 0; task < problem.tasks.size(); ++task) {
    for (const uint32_t before : problem.tasks[task].before) {
      waits += result.queue[task] != result.queue[before] ? 1 : 0;
    }
  }
  CHECK(waits == 0);
  CHECK(result.makespan == 1 + 1);
}

} // namespace dfc::test
