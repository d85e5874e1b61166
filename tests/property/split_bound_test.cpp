// The bound on all splits: no split that is drawn, planned and predicted as compile() does, is quicker; and
// what the bound counts for the very options of a split is no more than its plan takes, at any weights.
#include "compiler/lower_options.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/run_passes.h"
#include "compiler/split/bound/bound_problem.h"
#include "compiler/split/bound/bound_splits.h"
#include "compiler/split/choice/eliminate.h"
#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/relayout_seconds.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "runtime/executable_folder.h"
#include "tests/property/small_training.h"
#include "tests/support/catch.h"
#include "tests/support/mlp_net.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

#include <cmath>

namespace dfc::test {
namespace {

constexpr double rounding = 1 + 1e-6;

Graph rewritten(const Graph& written, const Machine& machine, const CompileOptions& options = {}) {
  auto expanded = runPasses(PassPhase::Expand, written, machine, options);
  REQUIRE(expanded.ok());
  auto graph = runPasses(PassPhase::Rewrite, *std::move(expanded), machine, options);
  REQUIRE(graph.ok());
  return unfoldBatchNorms(*graph);
}

double predicted(const Graph& graph, const SplitPlan& plan, const Machine& machine, const CostModel& cost) {
  const auto fused = runPasses(PassPhase::Fuse, expandSplit(graph, plan, machine), machine, {});
  REQUIRE(fused.ok());
  const auto placement = place(*fused, machine, cost, "pins");
  REQUIRE(placement.ok());
  const PlacementProblem problem{placement->graph, machine, cost,
                                 SideTable<OpId, DeviceId>(placement->graph.opCount()), lowerOptionsOf({})};
  const auto planned = plannedSeconds(*placement, problem);
  REQUIRE(planned.has_value());
  return planned->seconds;
}

bool isSame(const OpOption& a, const OpOption& b) {
  return a.form == b.form && a.factor == b.factor && a.operands == b.operands && a.results == b.results;
}

/// What the bound counts for these options. An op on all devices may be counted for one alone.
double counted(const BoundProblem& bound, const SplitChoices& choices, const Graph& graph,
               const SplitPlan& plan, const ResourceWeights& weights) {
  ChoiceProblem problem = bound.at(weights);
  for (const OpId op : graph.ops()) {
    const auto options = choices.options(op);
    std::vector<double> costs(problem.options[op.index()], never);
    const bool onAll = plan.option[op].form == OpOption::Form::OnAll;
    for (size_t i = 0; i < costs.size(); ++i) {
      const bool isOnOne = i >= options.size() || options[i].form == OpOption::Form::OnOne;
      costs[i] =
          (onAll && isOnOne) || (i < options.size() && isSame(options[i], plan.option[op])) ? 0 : never;
    }
    problem.tables.push_back({{op.index()}, std::move(costs)});
  }
  return leastBound(problem, size_t{1} << 14);
}

std::vector<DeviceId> gpusOf(const Machine& machine) {
  std::vector<DeviceId> gpus;
  for (const DeviceId device : machine.devices.ids()) {
    if (machine.devices[device].kind == DeviceKind::Gpu &&
        alike(machine.devices[device], machine.devices[DeviceId(1)])) {
      gpus.push_back(device);
    }
  }
  return gpus;
}

/// How near the counted seconds of plans come to their predictions.
struct Tightness {
  int plans = 0;
  double sum = 0, most = 0, links = 0; ///< `links`: the most where links alone have a weight
  void add(double share) {
    ++plans;
    sum += share;
    most = std::max(most, share);
  }
};

void compare(const Graph& graph, const Mesh& mesh, const Machine& machine, int draws, Dice& dice,
             Tightness& tightness) {
  const RooflineCostModel cost;
  const BoundProblem bound(graph, mesh, machine, cost);
  const SplitChoices choices(graph, mesh, machine, cost, OptionSpace::All);
  const double least = leastSplitSeconds(graph, mesh, machine, cost, HUGE_VAL);
  for (int draw = 0; draw < draws; ++draw) {
    const double prices[] = {1, 0.05, 5};
    const SplitPlan plan = draw < 3 ? choices.choose({.link = prices[draw]})
                                    : choices.chooseBy([&](OpId, size_t) { return dice.unit(); });
    REQUIRE(std::isfinite(plan.seconds));
    const double seconds = predicted(graph, plan, machine, cost);
    INFO("draw " << draw << " on " << toString(mesh, machine));
    CHECK(least <= seconds * rounding);
    double most = 0;
    for (const double compute : {0.0, 0.1, 0.5, 0.9, 0.98, 1.0}) {
      INFO("weight " << compute);
      const double share = counted(bound, choices, graph, plan, {compute, 1 - compute}) / seconds;
      CHECK(share <= rounding);
      most = std::max(most, share);
      tightness.links = std::max(tightness.links, compute == 0 ? share : 0);
    }
    tightness.add(most);
  }
}

/// A block of a transformer with its gradients and updates, and images convolved twice.
Graph layers(int64_t rows, int64_t width) {
  const std::string text = fmt::format(R"(graph layers {{
  input x : f32[{0}, 64, {1}]
  input images : f32[{0}, 16, 16, 16]
  parameter scale : f32[{1}] = constant(1)
  parameter shift : f32[{1}] = zeros()
  parameter packed : f32[{1}, {2}] = glorot(seed=1)
  parameter up : f32[{1}, {3}] = glorot(seed=2)
  parameter down : f32[{3}, {1}] = glorot(seed=3)
  parameter f : f32[32, 16, 3, 3] = glorot(seed=4)
  parameter g : f32[32, 32, 3, 3] = glorot(seed=5)
  flat = reshape(x, shape=[-1, {1}])
  qkv = matmul(layerNorm(flat, scale, shift), packed)
  q, k, v = split(qkv, sizes=[{1}, {1}, {1}], axis=1)
  qh = transpose(reshape(q, shape=[{0}, 64, 4, -1]), permutation=[0, 2, 1, 3])
  kh = transpose(reshape(k, shape=[{0}, 64, 4, -1]), permutation=[0, 2, 1, 3])
  vh = transpose(reshape(v, shape=[{0}, 64, 4, -1]), permutation=[0, 2, 1, 3])
  attended, sums = attention(qh, kh, vh, causal=true)
  joined = reshape(transpose(attended, permutation=[0, 2, 1, 3]), shape=[-1, {1}])
  residual = add(joined, flat)
  last = add(matmul(gelu(matmul(residual, up)), down), residual)
  convolved = relu(conv2d(relu(conv2d(images, f)), g))
  loss = add(reduceMean(mul(last, last)), reduceMean(convolved))
  dpacked, dup, ddown, dscale, df, dg = gradients(loss, packed, up, down, scale, f, g)
  npacked = assign(packed, sub(packed, mul(dpacked, 0.1)))
  nup = assign(up, sub(up, mul(dup, 0.1)))
  ndown = assign(down, sub(down, mul(ddown, 0.1)))
  nscale = assign(scale, sub(scale, mul(dscale, 0.1)))
  nf = assign(f, sub(f, mul(df, 0.1)))
  ng = assign(g, sub(g, mul(dg, 0.1)))
  fetch loss
}}
)",
                                       rows, width, 3 * width, 4 * width);
  auto graph = parseGraph(text, "layers.dfg");
  INFO(text << render(graph.errors()));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

/// The shipped machine of 8 GPUs with links of this part of their bandwidth.
Machine eightGpus(double links) {
  auto machine = readMachine(shippedFile("samples/machines/cpu-8gpu-nvlink.json").string());
  REQUIRE(machine.ok());
  for (const LinkId link : machine->links.ids()) {
    machine->links[link].bandwidth *= links;
  }
  return *std::move(machine);
}

void compareLayers(const Graph& written, double links, Precision precision, int draws, Tightness& tightness) {
  const Machine machine = eightGpus(links);
  CompileOptions options;
  options.precision = precision;
  const Graph graph = rewritten(written, machine, options);
  const std::vector<DeviceId> gpus = gpusOf(machine);
  Dice dice(7);
  for (const ptrdiff_t size : {2, 3, 8}) {
    INFO(size << " devices, links " << links);
    compare(graph, meshOfAll({gpus.begin(), gpus.begin() + size}, graph, machine, RooflineCostModel()),
            machine, draws, dice, tightness);
  }
}

void compareSmall(uint64_t seed, int draws, Tightness& tightness) {
  Machine machine = smallCluster(seed);
  for (const DeviceId device : machine.devices.ids()) {
    machine.devices[device].computeQueues = seed % 4 == 0 ? 2 : 1;
  }
  const Graph graph = rewritten(smallTraining(seed, 4 + static_cast<int64_t>(seed % 12)), machine);
  const std::vector<DeviceId> gpus = gpusOf(machine);
  Dice dice(seed);
  INFO("seed " << seed << "\n" << printGraph(graph));
  for (size_t size = 2; size <= gpus.size(); ++size) {
    compare(graph,
            meshOfAll({gpus.begin(), gpus.begin() + static_cast<ptrdiff_t>(size)}, graph, machine,
                      RooflineCostModel()),
            machine, draws, dice, tightness);
  }
}

std::string textOf(const Tightness& tightness) {
  return fmt::format("{} plans, counted {:.3f} of their seconds, at most {:.3f}, by links {:.3f}",
                     tightness.plans, tightness.sum / tightness.plans, tightness.most, tightness.links);
}

} // namespace

TEST_CASE("bound on splits: no more than any plan of small graphs takes") {
  Tightness tightness;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    compareSmall(seed, 5, tightness);
  }
  INFO(textOf(tightness));
  CHECK(tightness.plans > 100);
  CHECK(tightness.sum > 0.05 * tightness.plans);
}

TEST_CASE("bound on splits: no more than plans of layers take, trained on few devices and many") {
  Tightness tightness;
  for (const double links : {1.0, 0.02}) {
    for (const Precision precision : {Precision::Ieee, Precision::Bf16}) {
      compareLayers(layers(16, 256), links, precision, 5, tightness);
      compareLayers(layers(128, 512), links, precision, 3, tightness);
      compareLayers(mlpNet(2048), links, precision, 3, tightness);
    }
  }
  INFO(textOf(tightness));
  CHECK(tightness.plans > 100);
  CHECK(tightness.most > 0.7);
  CHECK(tightness.links > 0.3);
}

TEST_CASE("bound on splits: parts of rows that a slice drops are left out") {
  // Of one product the first device's rows are read, of the other the last one's: each computes one part.
  const auto written = parseGraph(R"(graph ends {
  input x : f32[4096, 2048]
  parameter w : f32[2048, 2048] = glorot(seed=1)
  parameter v : f32[2048, 2048] = glorot(seed=2)
  first = slice(matmul(x, w), starts=[0, 0], ends=[16, 2048])
  last = slice(matmul(x, v), starts=[4080, 0], ends=[4096, 2048])
  fetch y = reduceSum(mul(first, last))
}
)",
                                  "ends.dfg");
  INFO(render(written.errors()));
  REQUIRE(written.ok());
  Tightness tightness;
  compareLayers(*written, 1, Precision::Ieee, 40, tightness);
  CHECK(tightness.plans == 120);
}

TEST_CASE("bound on splits: copies that no device reads are left out") {
  // 16 weights with a home each: products of their gradients on all devices, of which the home's are kept.
  std::string text = "graph chain {\n  input x0 : f32[8192, 2048]\n", updates, weights, gradients;
  for (int i = 0; i < 16; ++i) {
    text += fmt::format("  parameter w{0} : f32[2048, 2048] = glorot(seed={0})\n", i);
    updates += fmt::format("  n{0} = assign(w{0}, sub(w{0}, mul(d{0}, 0.1)))\n", i);
    weights += fmt::format(", w{}", i);
    gradients += fmt::format("{}d{}", i > 0 ? ", " : "", i);
  }
  for (int i = 0; i < 16; ++i) {
    text += fmt::format("  x{1} = relu(matmul(x{0}, w{0}))\n", i, i + 1);
  }
  text += fmt::format("  {} = gradients(reduceMean(x16){})\n{}}}\n", gradients, weights, updates);
  const auto written = parseGraph(text, "chain.dfg");
  INFO(text << render(written.errors()));
  REQUIRE(written.ok());
  const Machine machine = eightGpus(1);
  const RooflineCostModel cost;
  const Graph graph = rewritten(*written, machine);
  const Mesh mesh = meshOfAll({DeviceId(1), DeviceId(2)}, graph, machine, cost);
  const SplitChoices choices(graph, mesh, machine, cost, OptionSpace::All);
  const SplitPlan plan = choices.chooseBy([&](OpId op, size_t option) {
    const auto form = choices.options(op)[option].form;
    const bool isUpdate = graph[op].kind() == OpKind::Parameter || graph[op].kind() == OpKind::Assign;
    return form == (isUpdate ? OpOption::Form::OnOne : OpOption::Form::OnAll) ? 0.0 : 1.0;
  });
  CHECK(llvm::any_of(graph.opsOf(OpKind::Assign),
                     [&](OpId op) { return plan.option[op].form == OpOption::Form::OnOne; }));
  const BoundProblem bound(graph, mesh, machine, cost);
  CHECK(counted(bound, choices, graph, plan, {1, 0}) <= predicted(graph, plan, machine, cost) * rounding);
}

TEST_CASE("bound on splits: most of the step where computation is") {
  // 2^16 rows of 1024 values, on 8 devices: 1.3e13 operations, of which a device takes 26 ms of its 51e12 a
  // second, and parameters of 48 MB.
  const Machine machine = eightGpus(1);
  const Graph written = layers(1024, 1024);
  CompileOptions options;
  options.policy = "split";
  const auto plan = compile(written, machine, RooflineCostModel(), options);
  REQUIRE(plan.ok());
  const auto bound = leastSplitSeconds(rewritten(written, machine), machine, RooflineCostModel());
  REQUIRE(bound.has_value());
  CHECK(*bound <= plan->predictedSeconds());
  CHECK(*bound >= 0.75 * plan->predictedSeconds());
}

TEST_CASE("bound on splits: one device alone is among them") {
  const Machine machine = eightGpus(1e-6); // nothing can be sent
  CompileOptions options;
  options.policy = "single";
  const auto plan = compile(mlpNet(2048), machine, RooflineCostModel(), options);
  REQUIRE(plan.ok());
  const auto bound = leastSplitSeconds(rewritten(mlpNet(2048), machine), machine, RooflineCostModel());
  REQUIRE(bound.has_value());
  CHECK(*bound <= plan->predictedSeconds());
}

TEST_CASE("bound on splits: none for one device, pins, unlike devices, or a cost model without a floor") {
  class NoFloor : public RooflineCostModel {
    double leastOfPeak(const Machine& /*machine*/, DeviceId /*device*/) const override { return 0; }
  };
  const Machine machine = eightGpus(1);
  const Graph graph = rewritten(mlpNet(2048), machine);
  CHECK(leastSplitSeconds(graph, machine, RooflineCostModel()).has_value());
  CHECK_FALSE(leastSplitSeconds(graph, machine, NoFloor()).has_value());
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Machine few = smallCluster(seed); // a host, and GPUs that may be unlike
    const bool isUnlike = gpusOf(few).size() < 2;
    CHECK(leastSplitSeconds(graph, few, RooflineCostModel()).has_value() == !isUnlike);
  }
  const auto pinned = parseGraph(R"(graph pinned {
  input x : f32[512, 512]
  y = matmul(x, x) on gpu0
  fetch y
}
)",
                                 "pinned.dfg");
  REQUIRE(pinned.ok());
  CHECK_FALSE(leastSplitSeconds(*pinned, machine, RooflineCostModel()).has_value());
}

TEST_CASE("bound on splits: no more than any plan of small graphs takes, the long run", "[heavy]") {
  Tightness tightness;
  for (uint64_t seed = 1000; seed < 3000; ++seed) {
    compareSmall(seed, 12, tightness);
  }
  const std::string text = textOf(tightness);
  WARN(text);
  CHECK(tightness.plans > 10'000);
}

} // namespace dfc::test
