// Late updates: small ops that only lead to new state come last on their GPU and share launches there; no
// schedule of a random graph becomes unsound by them.
#include "compiler/schedule/late_updates.h"

#include "compiler/compile.h"
#include "compiler/place/place.h"
#include "compiler/schedule/lower_bounds.h"
#include "compiler/schedule/priorities.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"
#include "tests/support/repinned.h"

#include <algorithm>
#include <array>
#include <random>

using namespace dfc;
using namespace dfc::test;

namespace {

Machine twoGpus() { return *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string()); }

/// Layers on two devices in turn, each of which waits for the other. Each layer has running means, updated
/// from sums that are ready long before the last layer.
Graph layersWithRunningMeans(size_t layers, const std::string& even, const std::string& odd) {
  Builder g("running means");
  Tensor x = g.input("x", f32({4096, 512}));
  for (size_t i = 0; i < layers; ++i) {
    const auto there = g.on(i % 2 == 0 ? even : odd);
    const auto name = [&](const char* what) { return what + std::to_string(i); };
    x = matmul(x, g.parameter(name("w"), f32({512, 512}), uniform(-1, 1, i + 1)));
    const Tensor mean = g.parameter(name("mean"), f32({512}), uniform(0, 1, 1));
    g.assign(mean, (mean * 0.9 + reduceMean(x, {0}) * 0.1).named(name("next")));
  }
  g.fetch("y", x);
  auto graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Executable planOf(const Graph& graph, const CompileOptions& options) {
  auto plan = compile(graph, twoGpus(), RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

/// The positions on gpu0's queue of its products, and of the ops that make its new means.
std::pair<std::vector<uint32_t>, std::vector<uint32_t>> positions(const Executable& plan) {
  std::vector<uint32_t> products, updates;
  for (const StepRow& step : plan.schedule().steps) {
    const DeviceId device = plan.schedule().queues[step.queue].device;
    if (plan.machine().devices[device].name != "gpu0") {
      continue;
    }
    if (plan.graph()[step.op].kind() == OpKind::Matmul) {
      products.push_back(step.position);
    } else if (plan.graph().nameOf(step.op).substr(0, 4) == "next") {
      updates.push_back(step.position);
    }
  }
  return {products, updates};
}

uint32_t least(const std::vector<uint32_t>& of) { return *std::min_element(of.begin(), of.end()); }
uint32_t most(const std::vector<uint32_t>& of) { return *std::max_element(of.begin(), of.end()); }

} // namespace

TEST_CASE("late updates: running means come behind all products, and share launches") {
  const Executable plan = planOf(layersWithRunningMeans(12, "gpu0", "gpu1"), {.policy = "pins"});
  const auto [products, updates] = positions(plan);
  REQUIRE(products.size() == 6);
  REQUIRE(updates.size() == 6);
  CHECK(least(updates) > most(products));
  const auto withUpdates = llvm::count_if(plan.launches().launches, [&](const LaunchRow& row) {
    return llvm::any_of(row.ops, [&](OpId op) { return plan.graph().nameOf(op).substr(0, 4) == "next"; });
  });
  CHECK(withUpdates < 5); // of both GPUs
}

TEST_CASE("late updates: none on a CPU, and none where every op is a launch by itself") {
  const Graph graph = layersWithRunningMeans(2, "cpu0", "cpu0");
  const auto placement = place(graph, twoGpus(), RooflineCostModel(), "pins");
  REQUIRE(placement.ok());
  const PlacedGraph placed = insertTransfers(*placement, twoGpus());
  for (const LaunchForms forms : {LaunchForms{}, LaunchForms{.merged = true}}) {
    const ScheduleProblem problem = scheduleProblem(placed, twoGpus(), RooflineCostModel(), forms);
    CHECK(llvm::none_of(problem.list.tasks, [](const ListTask& task) { return task.late; }));
  }
  const Executable apart =
      planOf(layersWithRunningMeans(12, "gpu0", "gpu1"), {.policy = "pins", .mergeLaunches = false});
  const auto [products, updates] = positions(apart);
  CHECK(least(updates) < most(products));
}

TEST_CASE("late updates: what a task of another queue or one that is not late needs is not late") {
  ListProblem problem{std::vector<ListTask>(5), {1, 1}, {}, {}};
  problem.tasks[1].before = {0}; // 0 and 1 lead to 2, which is on another queue
  problem.tasks[2].before = {1};
  problem.tasks[2].group = 1;
  problem.tasks[4].before = {3};
  for (ListTask& task : problem.tasks) {
    task.late = true;
  }
  unmarkWhatOthersNeed(problem);
  const auto lateAt = [&](size_t task) { return problem.tasks[task].late; };
  CHECK((!lateAt(0) && !lateAt(1) && lateAt(2) && lateAt(3) && lateAt(4)));
}

TEST_CASE("late updates: a queue begins its late tasks when all others have begun there") {
  ListProblem problem{std::vector<ListTask>(4), {1}, {}, {}};
  for (ListTask& task : problem.tasks) {
    task.seconds = 1;
  }
  problem.tasks[0].late = problem.tasks[3].late = true;
  problem.tasks[2].before = {1};
  problem.tasks[3].before = {0};
  const ListResult result = listSchedule(problem);
  CHECK(result.order == std::vector<uint32_t>{1, 2, 0, 3});
}

TEST_CASE("late updates: schedules of random graphs with them are sound under every priority") {
  const Machine machine = twoGpus();
  const RooflineCostModel cost;
  size_t late = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomGraphOptions random;
    random.ops = 20 + seed % 40;
    std::mt19937_64 dice(seed);
    const std::array<std::string, 3> devices{"cpu0", "gpu0", "gpu1"};
    const Graph graph =
        repinned(randomGraph(seed, random), [&](OpId) { return devices[dice() % devices.size()]; });
    const auto placement = place(graph, machine, cost, "pins");
    REQUIRE(placement.ok());
    const PlacedGraph placed = insertTransfers(*placement, machine);
    const ScheduleProblem problem = scheduleProblem(placed, machine, cost, {.merged = true});
    late += static_cast<size_t>(llvm::count_if(problem.list.tasks, [](const ListTask& t) { return t.late; }));
    for (const PriorityRow& row : allPriorities()) {
      const std::vector<double> ranks = row.ranks(problem.list);
      if (!ranks.empty()) {
        INFO("seed " << seed << ", priority " << row.name);
        const auto flaws = verifySchedule(
            scheduleOf(problem, listSchedule(problem.list, ranks), boundsOf(problem)), placed, machine);
        INFO(render(flaws));
        CHECK(flaws.empty());
      }
    }
  }
  CHECK(late > 20); // else nothing was tried
}
