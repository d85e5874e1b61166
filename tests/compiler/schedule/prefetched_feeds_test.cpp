// Orders are made for steps whose feeds are there: GPUs that get their parts of a large feed one after
// another in a step by itself begin at once in all others, and exchange gradients without waiting for one
// another.
#include "compiler/compile.h"
#include "compiler/schedule/schedule_problem.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/feeds.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"

using namespace dfc;

namespace {

/// Layers over rows of which eight GPUs get 34 MB each; four GPUs share a link to the host.
Graph layersOverRows() {
  Builder g("rows");
  Tensor x = g.input("x", f32({65536, 1024}));
  std::vector<Tensor> weights;
  for (int64_t i = 0; i < 6; ++i) {
    weights.push_back(g.parameter("w" + std::to_string(i), f32({1024, 1024}), glorot(i)));
    x = relu(matmul(x, weights.back()));
  }
  const Tensor loss = reduceMean(x * x);
  const auto slopes = gradients(loss, weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    g.assign(weights[i], weights[i] - slopes[i] * 0.1);
  }
  g.fetch("loss", loss);
  auto graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Executable planOnEight(const Graph& graph) {
  const auto machine = readMachine(shippedFile("samples/machines/cpu-8gpu-nvlink.json").string());
  REQUIRE(machine.ok());
  CompileOptions options;
  options.policy = "split";
  auto plan = compile(graph, *machine, RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

} // namespace

TEST_CASE("prefetched feeds: the order is that of a step whose feeds are there") {
  const Executable plan = planOnEight(layersOverRows());
  const Schedule& schedule = plan.schedule();
  CHECK(schedule.steady.seconds < 1.02 * schedule.steady.bound);
  // A step by itself waits for the feeds, which take longer than half of its work.
  const FeedTimes feeds = feedTimes(plan.placed(), schedule, plan.machine());
  REQUIRE(feeds.any);
  CHECK(feeds.outside > 0.3 * schedule.steady.seconds);
  CHECK(schedule.makespan > schedule.steady.seconds + 0.5 * feeds.outside);
}

TEST_CASE("prefetched feeds: a problem holds what a step does of them, and what is done before it") {
  const Executable plan = planOnEight(layersOverRows());
  const ScheduleProblem problem = scheduleProblem(plan.placed(), plan.machine(), RooflineCostModel());
  const FeedTimes feeds = feedTimes(plan.placed(), plan.schedule(), plan.machine());
  CHECK(problem.feeds == Approx(feeds.outside));
  size_t prefetched = 0;
  for (const auto& [op, transfer] : plan.placed().transfers) {
    const ListTask& task = problem.list.tasks[problem.taskOf[op]];
    if (isPrefetched(plan.placed(), op, plan.machine())) {
      ++prefetched;
      CHECK(task.links.empty());
      CHECK(task.seconds == Approx(feeds.inStep[plan.schedule().stepOf[op]]));
    }
  }
  CHECK(prefetched == 8);
}

TEST_CASE("prefetched feeds: staging does not queue behind the host's own work") {
  // The host, a copy queue, a GPU: the host computes for 1 s; a GPU's work of 0.5 s reads a feed of 0.25 s.
  ListProblem problem;
  problem.groupQueues = {1, 1, 1};
  problem.tasks.resize(4);
  problem.tasks[0].seconds = 1;
  problem.tasks[1].early = true; // staged during the step before
  problem.tasks[2].seconds = 0.25;
  problem.tasks[2].group = 1;
  problem.tasks[2].before = {1};
  problem.tasks[3].seconds = 0.5;
  problem.tasks[3].group = 2;
  problem.tasks[3].before = {2};
  const ListResult result = listSchedule(problem);
  CHECK(result.start[1] == 0);
  CHECK(result.makespan == 1);
  problem.tasks[1].early = false;
  CHECK(listSchedule(problem).makespan == 1.75);
}

TEST_CASE("prefetched feeds: what is staged in the step before is early") {
  const Executable plan = planOnEight(layersOverRows());
  const ScheduleProblem problem = scheduleProblem(plan.placed(), plan.machine(), RooflineCostModel());
  const SideTable<OpId, bool> staged = stagedInputs(plan.placed(), plan.machine());
  size_t early = 0;
  for (size_t task = 0; task < problem.list.tasks.size(); ++task) {
    CHECK(problem.list.tasks[task].early == staged[problem.opOf[task]]);
    early += problem.list.tasks[task].early ? 1 : 0;
  }
  CHECK(early > 0);
}
