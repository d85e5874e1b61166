// HEFT against the schedules printed in the literature, task by task: the code under test is what places
// tensor graphs.
#include "compiler/tasks/heft.h"
#include "runtime/executable_folder.h"
#include "tests/compiler/instance.h"
#include "tests/support/catch.h"

namespace dfc::test {
namespace {

const std::filesystem::path instances = shippedFile("tests/compiler/instances");
const std::filesystem::path shared = shippedFile("shared/sched_examples");

void checkTaskByTask(const ClassicInstance& instance) {
  const auto ranks = upwardRanks(instance.graph);
  const TaskSchedule schedule = heft(instance.graph);
  for (const TaskId task : instance.graph.tasks.ids()) {
    INFO("task " << instance.idOfTask[task.index()]);
    CHECK(ranks[task] == Approx(instance.rank[task.index()]).margin(1e-3));
    CHECK(schedule.tasks[task].device == instance.heft[task.index()].device);
    CHECK(schedule.tasks[task].start == Approx(instance.heft[task.index()].start).margin(1e-6));
    CHECK(schedule.tasks[task].end == Approx(instance.heft[task.index()].end).margin(1e-6));
  }
  CHECK(schedule.makespan == Approx(instance.heftLength));
}

} // namespace

TEST_CASE("HEFT reproduces the schedule of length 80 of Topcuoglu et al. 2002") {
  const auto instance = readClassic(instances / "topcuoglu2002.json");
  checkTaskByTask(instance);
  CHECK(heft(instance.graph).makespan == 80);
}

TEST_CASE("HEFT leaves a forbidden processor out of the rank means") {
  const auto instance = readClassic(instances / "topcuoglu2002_restricted.json");
  checkTaskByTask(instance);
  CHECK(heft(instance.graph).makespan == 80);
}

TEST_CASE("HEFT reproduces the schedule of length 133 of Arabnejad and Barbosa 2014") {
  const auto instance = readClassic(instances / "arabnejad2014_peft.json");
  checkTaskByTask(instance);
  CHECK(heft(instance.graph).makespan == 133);
}

TEST_CASE("HEFT agrees with the reference on other people's instances") {
  size_t seen = 0;
  for (const char* prefix : {"lit_", "auckland_", "mackncheesiest_"}) {
    for (const auto& file : instanceFiles(shared, prefix)) {
      INFO(file);
      const auto instance = readClassic(file);
      const TaskSchedule schedule = heft(instance.graph);
      CHECK(schedule.makespan == Approx(instance.heftLength));
      CHECK(schedule.makespan >= Approx(instance.optimal));
      ++seen;
    }
  }
  if (seen == 0) {
    WARN("skipped: shared/sched_examples is absent");
  } else {
    CHECK(seen == 23); // 12 lit, 10 auckland, 1 mackncheesiest
  }
}

TEST_CASE("HEFT starts nothing before its device begins") {
  TaskGraph graph;
  graph.queues = {1, 1};
  graph.begins = {0, 10};
  graph.communication.resize(4); // free of cost
  TaskRow shortTask, longTask;
  shortTask.seconds = {5, 1};
  longTask.seconds = {20, 1};
  graph.tasks.add(shortTask);
  graph.tasks.add(longTask);
  const TaskSchedule schedule = heft(graph);
  CHECK(schedule.tasks[TaskId(0)].device == 0); // ends at 5; the other device at 10 + 1 at best
  CHECK(schedule.tasks[TaskId(1)].device == 1); // ends at 10 + 1; the first device at 20 at best
  CHECK(schedule.makespan == 11);
}

} // namespace dfc::test
