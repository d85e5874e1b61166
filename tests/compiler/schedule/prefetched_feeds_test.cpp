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
using namespace dfc::test;

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
