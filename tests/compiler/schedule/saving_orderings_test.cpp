// Orderings that let values share bytes: the plan of a training step holds the logits once, zeros come when
// they are needed, and neither costs time.
#include "compiler/schedule/saving_orderings.h"

#include "compiler/compile.h"
#include "compiler/memory/plan_memory.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/plan/executable_parts.h"
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"

#include <algorithm>

using namespace dfc;

namespace {

constexpr int64_t rows = 4096, width = 64, classes = 8192;
constexpr int64_t logitBytes = rows * classes * 4;

Machine shipped(const std::string& name) {
  auto machine = readMachine(shippedFile("samples/machines/" + name).string());
  REQUIRE(machine.ok());
  return *std::move(machine);
}

Executable planOf(Builder&& g, const Machine& machine) {
  auto graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  CompileOptions options;
  options.policy = "pins";
  auto plan = compile(*graph, machine, RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

int64_t transientBytes(const Executable& plan, const std::string& device) {
  const DeviceId id = plan.machine().findDevice(device);
  return plan.memory().arenaBytes[id] - plan.memory().residentBytes[id];
}

StepId stepOf(const Executable& plan, OpKind kind) {
  for (const OpId op : plan.graph().opsOf(kind)) {
    return plan.schedule().stepOf[op];
  }
  FAIL("no such op");
  return {};
}

} // namespace

TEST_CASE("saving orderings: the gradient of logits overwrites them behind the loss") {
  Builder g("classifier");
  const Tensor x = g.input("x", f32({rows, width}));
  const Tensor labels = g.input("labels", i64({rows}));
  {
    const auto here = g.on("gpu0");
    const Tensor w = g.parameter("w", f32({width, classes}), uniform(-1, 1, 1));
    const Tensor loss = softmaxCrossEntropy(matmul(x, w), labels);
    g.assign(w, w - gradients(loss, {w})[0] * 0.1);
    g.fetch("loss", loss);
  }
  const Executable plan = planOf(std::move(g), shipped("cpu-2gpu.json"));
  const StepId loss = stepOf(plan, OpKind::SoftmaxCrossEntropy);
  CHECK(loss < stepOf(plan, OpKind::SoftmaxCrossEntropyGradient));
  CHECK(transientBytes(plan, "gpu0") < 2 * logitBytes);
}

TEST_CASE("saving orderings: zeros are made when what is added to them is there") {
  Builder g("embedding");
  const Tensor ids = g.input("ids", i64({64}));
  const Tensor x = g.input("x", f32({rows, width}));
  {
    const auto here = g.on("gpu0");
    const Tensor w = g.parameter("w", f32({width, classes}), uniform(-1, 1, 1));
    const Tensor square = g.parameter("square", f32({classes, classes}), uniform(-1, 1, 2));
    // A product and its operand are the peak. Zeros as large as each are needed behind it, and the GPU idles
    // before it, until x is there: for less than a thousandth of the step.
    Tensor product = matmul(x, w);
    for (int i = 0; i < 5; ++i) {
      product = matmul(product, square);
    }
    const Tensor sums = reduceSum(product, {0}, true);
    const Tensor zeros = broadcast(g.scalar(ElementType::F32, 0), {rows, classes});
    g.fetch("largest", reduceMax(scatterAdd(zeros, ids, broadcast(sums, {64, classes})), {0, 1}));
  }
  const Executable plan = planOf(std::move(g), shipped("cpu-2gpu.json"));
  CHECK(transientBytes(plan, "gpu0") < 3 * logitBytes);
}

TEST_CASE("saving orderings: from smaller tasks to larger ones of the same device") {
  Builder g("classifier");
  const Tensor x = g.input("x", f32({rows, width}));
  const Tensor labels = g.input("labels", i64({rows}));
  const Tensor w = g.parameter("w", f32({width, classes}), uniform(-1, 1, 1));
  const Tensor loss = softmaxCrossEntropy(matmul(x, w), labels);
  g.fetch("gradient", reduceMax(gradients(loss, {w})[0], {0, 1}));
  g.fetch("loss", loss);
  const auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  const Machine machine = shipped("cpu.json");
  const RooflineCostModel cost;
  CompileOptions options;
  struct Keep : CompileObserver {
    void placed(const PlacedGraph& placed) override { kept.push_back(placed); }
    std::vector<PlacedGraph> kept;
  } keep;
  options.observer = &keep;
  REQUIRE(compile(*graph, machine, cost, options).ok());
  REQUIRE(keep.kept.size() == 1);
  ScheduleProblem problem = scheduleProblem(keep.kept[0], machine, cost);
  const ListResult times = listSchedule(problem.list);
  const auto orderings = savingOrderings(keep.kept[0], problem, times);
  REQUIRE_FALSE(orderings.empty());
  for (const TaskOrdering& ordering : orderings) {
    CHECK(ordering.before < ordering.after);
    CHECK(problem.list.tasks[ordering.before].group == problem.list.tasks[ordering.after].group);
    problem.list.tasks[ordering.after].before.push_back(ordering.before);
  }
  // What is ordered is not ordered again.
  for (const TaskOrdering& more : savingOrderings(keep.kept[0], problem, listSchedule(problem.list))) {
    CHECK(std::none_of(orderings.begin(), orderings.end(), [&](const TaskOrdering& known) {
      return known.before == more.before && known.after == more.after;
    }));
  }
}
