// Lower bounds: Jackson's preemptive schedule against every preemptive schedule of small instances, and
// bounds against optima that were proven by exhaustive search.
#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/verify/verify.h"
#include "runtime/executable_folder.h"
#include "tests/compiler/instance.h"
#include "tests/support/catch.h"

#include <random>

namespace dfc::test {
namespace {

/// The least last end of tasks in whole seconds, by trying every task in every second.
double bestOfAll(std::vector<OneMachineTask>& tasks, double now, double bound) {
  bool left = false, there = false;
  double best = std::numeric_limits<double>::infinity();
  for (OneMachineTask& task : tasks) {
    left = left || task.work > 0;
    if (task.work > 0 && task.head <= now) {
      there = true;
      --task.work;
      const double end = task.work > 0 ? 0 : now + 1 + task.tail;
      best = std::min(best, bestOfAll(tasks, now + 1, std::max(bound, end)));
      ++task.work;
    }
  }
  return !left ? bound : there ? best : bestOfAll(tasks, now + 1, bound);
}

ListProblem onOneQueue(std::vector<ListTask> tasks) {
  ListProblem problem;
  problem.tasks = std::move(tasks);
  problem.groupQueues = {1, 1};
  return problem;
}

ListTask taskOf(double seconds, uint32_t group, llvm::SmallVector<uint32_t, 4> before = {}) {
  ListTask task;
  task.seconds = seconds;
  task.group = group;
  task.before = std::move(before);
  return task;
}

/// Every op takes as long, wherever it runs, but sources, which take no time.
class EachTakes : public CostModel {
 public:
  explicit EachTakes(double seconds) : seconds_(seconds) {}
  double opSeconds(const Graph& graph, OpId op, const Machine& /*machine*/,
                   DeviceId /*device*/) const override {
    return classOf(graph[op].kind()) == OpClass::Source ? 0 : seconds_;
  }

 private:
  double seconds_;
};

} // namespace

TEST_CASE("one-machine bound: an interrupted task") {
  // The first works 0..1 and 3..6, the second, more urgent, 1..3, the third 6..7: ends 6 + 1, 3 + 6, 7.
  CHECK(oneMachineBound({{0, 4, 1}, {1, 2, 6}, {3, 1, 0}}) == 9);
  CHECK(oneMachineBound({}) == 0);
  CHECK(oneMachineBound({{2, 3, 4}}) == 9);
  CHECK(oneMachineBound({{0, 1, 0}, {5, 1, 0}}) == 6); // idle in between
}

TEST_CASE("one-machine bound: what the best of all interrupting schedules reaches") {
  std::mt19937 random(11);
  const auto below = [&](uint32_t end) { return static_cast<double>(random() % end); };
  for (int round = 0; round < 200; ++round) {
    std::vector<OneMachineTask> tasks;
    for (int i = 0; i < 4; ++i) {
      tasks.push_back({below(5), 1 + below(2), below(6)});
    }
    CHECK(oneMachineBound(tasks) == bestOfAll(tasks, 0, 0));
  }
}

TEST_CASE("lower bounds: two gradients of one device that both have a long way to go") {
  // Queue 0: a (4 s), then b (4 s); each is followed by 3 s on the other queue. A chain takes 7 s, queue 0 is
  // busy for 8 s; but whichever of them comes second is still to be followed: 11 s.
  const ListProblem problem = onOneQueue({taskOf(4, 0), taskOf(4, 0), taskOf(3, 1, {0}), taskOf(3, 1, {1})});
  const LowerBounds bounds = lowerBounds(problem);
  CHECK(bounds.criticalPath == 7);
  CHECK(bounds.busiestQueue == 11);
  CHECK(listSchedule(problem).makespan == 11);
}

TEST_CASE("lower bounds never exceed the proven optimum of a contention instance") {
  const auto files = instanceFiles(shippedFile("tests/compiler/instances"), "contention_");
  REQUIRE(files.size() == 12);
  size_t tight = 0;
  for (const auto& file : files) {
    INFO(file.filename());
    const auto instance = readContention(file);
    const double best = lowerBounds(instance.problem).best();
    CHECK(best <= instance.optimal * (1 + 1e-12));
    tight += best >= instance.optimal * (1 - 1e-12) ? 1 : 0;
  }
  CHECK(tight > 0);
}

TEST_CASE("lower bounds never exceed a schedule, whatever its priorities") {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> seconds(0, 3);
  for (int round = 0; round < 200; ++round) {
    ListProblem problem;
    problem.groupQueues = {1, 2, 1};
    problem.linkSlots = {1, 0, 2};
    problem.groupBegins = {0, 0.5, 0.25};
    problem.memories = 2;
    for (uint32_t i = 0; i < 24; ++i) {
      ListTask task = taskOf(seconds(random), random() % 3);
      task.utilisation = static_cast<double>(random() % 5) / 4;
      task.traffic = static_cast<double>(random() % 5) / 4;
      task.memory = random() % 2;
      if (random() % 3 == 0) {
        task.links.push_back(random() % 3);
      }
      for (uint32_t before = 0; before < i; ++before) {
        if (random() % 8 == 0) {
          task.before.push_back(before);
        }
      }
      problem.tasks.push_back(std::move(task));
    }
    const double bound = lowerBounds(problem).best();
    for (int order = 0; order < 4; ++order) {
      std::vector<double> priority(problem.tasks.size());
      std::generate(priority.begin(), priority.end(), [&] { return seconds(random); });
      CHECK(bound <= listSchedule(problem, priority).makespan + 1e-9);
    }
  }
}

TEST_CASE("lower bounds: what takes for ever, or none of the device, is bounded by its chain alone") {
  constexpr double never = std::numeric_limits<double>::infinity();
  // The first two end never. Two queues, or half of the device for each, take 4 s / 2 + 2 s / 2 for the
  // others.
  ListProblem problem = onOneQueue({taskOf(never, 0), taskOf(1, 0, {0}), taskOf(4, 0), taskOf(2, 0)});
  problem.groupQueues = {2, 1};
  problem.tasks[2].utilisation = problem.tasks[3].utilisation = 0.5;
  const LowerBounds bounds = lowerBounds(problem);
  CHECK(bounds.criticalPath == never);
  CHECK(bounds.busiestQueue == 3);
}

TEST_CASE("lower bounds: tasks on several devices take the bandwidth of one memory") {
  ListProblem problem = onOneQueue({taskOf(4, 0), taskOf(4, 1), taskOf(2, 2)});
  problem.groupQueues = {1, 1, 1};
  problem.memories = 1;
  for (ListTask& task : problem.tasks) {
    task.traffic = 0.75;
  }
  CHECK(lowerBounds(problem).busiestQueue == 7.5); // 0.75 * (4 + 4 + 2)
  CHECK(listSchedule(problem).makespan == Approx(7.5));
}

TEST_CASE("lower bounds: a bus of two slots is one of twice the speed, for the verifier too") {
  // A bus carries 1000 bytes a second into both GPUs, two copies at once. Three copies of 4000 bytes take 4 s
  // each: the bus 12 s / 2, the engine that copies into gpu0 2 * 4 s, a chain 4 s.
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  const LinkId bus = machine.links.add({"bus", 0, 1e3, 2});
  for (const std::string gpu : {"gpu0", "gpu1"}) {
    const DeviceId device = machine.devices.add({.name = gpu, .kind = DeviceKind::Gpu, .model = ""});
    const LinkId back = machine.links.add({gpu + " back", 0, 0, 1}); // in no time
    machine.routes.push_back({DeviceId(0), device, {bus}});
    machine.routes.push_back({device, DeviceId(0), {back}});
  }
  Builder g;
  for (const auto& [name, gpu] : {std::pair("a", "gpu0"), std::pair("b", "gpu0"), std::pair("c", "gpu1")}) {
    g.fetch(name, exp(g.input(std::string(name) + ".in", f32({1000}))).named(name).on(gpu));
  }
  const Graph graph = *std::move(g).finish();
  Placement placement{graph, SideTable<OpId, DeviceId>(graph.opCount(), machine.host()), "test"};
  for (const OpId op : graph.opsOf(OpKind::Exp)) {
    placement.device[op] = machine.findDevice(graph.pinOf(op));
  }
  const PlacedGraph placed = insertTransfers(placement, machine);
  const Schedule schedule = makeSchedule(placed, machine, EachTakes(0));
  CHECK(schedule.bounds.criticalPath == Approx(4));
  CHECK(schedule.bounds.busiestQueue == Approx(8));
  CHECK(schedule.bounds.busiestLink == Approx(6));
  CHECK(render(verifyPrediction(placed, schedule, machine)) == "");
  machine.links[bus].slots = 1;
  CHECK(verifyPrediction(placed, schedule, machine).size() == 1);
}

TEST_CASE("lower bounds: a chain goes through what only an ordering holds apart, for the verifier too") {
  // The next value overwrites w, so it comes after the reader of the old one: 1 s + 1 s + 1 s of the assign.
  Builder g;
  const Tensor w = g.parameter("w", f32({4}), constantInit(1));
  g.fetch("old", exp(w));
  g.assign(w, w * 2.0);
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = "", .computeQueues = 2});
  const Graph graph = *std::move(g).finish();
  const PlacedGraph placed =
      insertTransfers({graph, SideTable<OpId, DeviceId>(graph.opCount(), machine.host()), "test"}, machine);
  REQUIRE(placed.orderings.size() == 1);
  const Schedule schedule = makeSchedule(placed, machine, EachTakes(1));
  CHECK(schedule.bounds.criticalPath == 3);
  CHECK(render(verifyPrediction(placed, schedule, machine)) == "");
}

TEST_CASE("predictions: steps that share a device for more seconds than a number holds are refused") {
  Builder g;
  const Tensor x = g.input("x", f32({4}));
  g.fetch("a", exp(x));
  g.fetch("b", tanh(x));
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = "", .computeQueues = 2});
  const Graph graph = *std::move(g).finish();
  const PlacedGraph placed =
      insertTransfers({graph, SideTable<OpId, DeviceId>(graph.opCount(), machine.host()), "test"}, machine);
  Schedule schedule = makeSchedule(placed, machine, EachTakes(1));
  for (const StepId id : schedule.steps.ids()) { // side by side they take twice as long
    StepRow& step = schedule.steps[id];
    step.end = step.start + (step.alone() > 0 ? 1.7e308 : 0);
    step.slowed = 0;
    step.utilisation = 1;
    schedule.makespan = std::max(schedule.makespan, step.end);
  }
  CHECK(render(verifyPrediction(placed, schedule, machine)).find("more seconds than a number holds") !=
        std::string::npos);
}

TEST_CASE("lower bounds: what they exceed a makespan by is taken off where it is rounding") {
  LowerBounds bounds{1 + 1e-15, 1, 0.5};
  CHECK(withoutRounding(bounds, 1).best() == 1);
  CHECK(withoutRounding(bounds, 1).busiestLink == 0.5);
  CHECK(withoutRounding(bounds, 2).criticalPath == 1 + 1e-15);
  bounds.criticalPath = 1.1; // wrong: the verifier should see it
  CHECK(withoutRounding(bounds, 1).best() == 1.1);
}

} // namespace dfc::test
