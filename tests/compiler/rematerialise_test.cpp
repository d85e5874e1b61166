// Steps that do not fit into a device as written: with ops computed twice, or with the batch in parts.
#include "compiler/compile.h"
#include "compiler/fit_candidate.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/rematerialise/choose_checkpoints.h"
#include "compiler/rematerialise/rematerialise.h"
#include "compiler/run_passes.h"
#include "compiler/split/pipeline/micro_batches.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

Machine oneGpu() {
  Machine machine = smallMachine(1);
  const DeviceId gpu = machine.findDevice("gpu0");
  machine.devices[gpu].peakFlops.fill(1e12);
  machine.devices[gpu].memoryBandwidth = 1e12;
  return machine;
}

class StageCounter : public CompileObserver {
 public:
  void graph(const Graph&, std::string_view) override { ++passes; }
  size_t passes = 0;
};

Executable planned(const Graph& graph, const Machine& machine, const char* policy,
                   CompileObserver* observer = nullptr) {
  CompileOptions options;
  options.policy = policy;
  options.observer = observer;
  auto plan = compile(graph, machine, RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

/// One GPU. Its memory holds the parameters and this share of the bytes of a step's other values.
Machine shortMachine(const Graph& graph, double share) {
  Machine machine = oneGpu();
  const DeviceId gpu = machine.findDevice("gpu0");
  const Executable roomy = planned(graph, machine, "single");
  const int64_t resident = roomy.memory().residentBytes[gpu];
  const auto within = static_cast<double>(roomy.memory().arenaBytes[gpu] - resident);
  machine.devices[gpu].memoryBytes = resident + static_cast<int64_t>(share * within);
  return machine;
}

Placement placedAlone(const Graph& unfused, const Machine& machine) {
  const auto fused = runPasses(PassPhase::Fuse, unfused, machine, {});
  REQUIRE(fused.ok());
  auto placed = place(*fused, machine, RooflineCostModel(), "single");
  REQUIRE(placed.ok());
  return *std::move(placed);
}

} // namespace

TEST_CASE("a step that exceeds its device is planned in ever less memory, with more computation") {
  const Graph graph = parsed(deepNet(4096));
  StageCounter roomyStages;
  const Executable roomy = planned(graph, oneGpu(), "single", &roomyStages);
  const DeviceId gpu = roomy.machine().findDevice("gpu0");
  const int64_t resident = roomy.memory().residentBytes[gpu],
                within = roomy.memory().arenaBytes[gpu] - resident;
  double before = roomy.predictedSeconds();
  bool repeats = false, parts = false;
  for (const double share : {0.8, 0.6, 0.4, 0.25, 0.15}) {
    INFO("share " << share);
    Machine machine = oneGpu();
    machine.devices[gpu].memoryBytes = resident + static_cast<int64_t>(share * static_cast<double>(within));
    StageCounter stages;
    const Executable plan = planned(graph, machine, "single", &stages);
    CHECK(stages.passes == roomyStages.passes); // those of trials are not shown
    CHECK(plan.memory().arenaBytes[gpu] <= machine.devices[gpu].memoryBytes);
    CHECK(plan.predictedSeconds() >= roomy.predictedSeconds() * 0.999);
    CHECK(plan.predictedSeconds() < roomy.predictedSeconds() * 2);
    repeats = repeats || plan.policy().find("computed twice") != std::string::npos;
    parts = parts || plan.policy().find("micro-batches") != std::string::npos;
    before = plan.predictedSeconds();
  }
  CHECK(before > roomy.predictedSeconds());
  CHECK((repeats || parts));
}

TEST_CASE("rematerialise: the bits of the step as written, with fewer bytes alive") {
  const Machine unlimited = oneGpu();
  const Graph graph = rewritten(parsed(deepNet(256)), unlimited);
  Placement placement{graph, SideTable<OpId, DeviceId>(graph.opCount(), unlimited.findDevice("gpu0")),
                      "here"};
  for (const OpId input : graph.opsOf(OpKind::Input)) {
    placement.device[input] = unlimited.host();
  }
  CHECK_FALSE(rematerialise(placement, unlimited, RooflineCostModel(), 1).has_value()); // nothing is short
  const auto ordered = orderedForMemory(placement, unlimited, RooflineCostModel(), 1);
  REQUIRE(ordered.has_value());
  CHECK(ordered->ops == 0);
  CHECK(ordered->placement.graph.opCount() == graph.opCount());
  Machine limited = unlimited;
  // Parameters of 16 KiB a layer; an activation has 64 KiB, and a layer two that its gradient reads.
  limited.devices[limited.findDevice("gpu0")].memoryBytes = layers * (16 << 10) + 13 * (64 << 10);
  const auto made = rematerialise(placement, limited, RooflineCostModel(), 1);
  REQUIRE(made.has_value());
  CHECK(made->ops > 0);
  CHECK(made->seconds > 0);
  CHECK(made->bytes[limited.findDevice("gpu0")] > layers * (16 << 10));
  CHECK(made->bytes[limited.findDevice("gpu0")] <= layers * (16 << 10) + 13 * (64 << 10));
  CHECK(made->placement.graph.opCount() > graph.opCount());
  CHECK(render(verifyPlacement(made->placement, limited)) == "");
  const NamedLiterals feeds = randomFeeds(graph, 1), parameters = randomParameters(graph, 1);
  const auto expected = evaluate(graph, feeds, parameters);
  const auto actual = evaluate(made->placement.graph, feeds, parameters);
  REQUIRE(expected);
  REQUIRE(actual);
  CHECK(bitDifference(expected->fetches.at("loss"), actual->fetches.at("loss")) == "");
  for (const auto& [name, value] : expected->parameters) {
    CHECK(bitDifference(value, actual->parameters.at(name)) == "");
  }
  limited.devices[limited.findDevice("gpu0")].memoryBytes = layers * (16 << 10) + (64 << 10);
  CHECK_FALSE(
      rematerialise(placement, limited, RooflineCostModel(), 1).has_value()); // too little for a layer
}

TEST_CASE("chooseCheckpoints: segments of a residual net, whose ops depend on one another when repeated") {
  const Machine machine = oneGpu();
  const DeviceId gpu = machine.findDevice("gpu0");
  constexpr int blocks = 24; // x + tanh(x w)
  std::string text = "graph residual {\n  input x : f32[256, 64]\n", now = "x", names, gradients, updates;
  for (int i = 0; i < blocks; ++i) {
    text += fmt::format("  parameter w{0} : f32[64, 64] = glorot(seed={0})\n", i);
  }
  for (int i = 0; i < blocks; ++i) {
    text += fmt::format("  y{0} = add(tanh(matmul({1}, w{0})), {1})\n", i, now);
    now = fmt::format("y{}", i);
    names += fmt::format(", w{}", i);
    gradients += fmt::format("{}d{}", i == 0 ? "" : ", ", i);
    updates += fmt::format("  n{0} = assign(w{0}, sub(w{0}, mul(d{0}, 0.1)))\n", i);
  }
  text +=
      fmt::format("  loss = reduceMean(mul({0}, {0}))\n  {1} = gradients(loss{2})\n", now, gradients, names) +
      updates;
  const Graph graph = rewritten(parsed(text + "  fetch loss\n}"), machine);
  Placement placement{graph, SideTable<OpId, DeviceId>(graph.opCount(), gpu), "here"};
  const StepOrder order = stepOrder(placement, machine, RooflineCostModel());
  SideTable<DeviceId, int64_t> limits(machine.devices.size(), Lifetimes::unlimited);
  limits[gpu] = 1;
  Lifetimes lifetimes(placement, order, limits);
  lifetimes.evaluate();
  const auto peakOf = [&] {
    return *std::max_element(lifetimes.profile(gpu).begin(), lifetimes.profile(gpu).end());
  };
  const int64_t unlimited = peakOf();
  for (const double share : {0.8, 0.6, 0.5}) {
    INFO("share " << share);
    limits[gpu] = static_cast<int64_t>(share * static_cast<double>(unlimited));
    REQUIRE(chooseCheckpoints(lifetimes, {placement, order, limits, machine, RooflineCostModel()}));
    CHECK(peakOf() <= limits[gpu]);
    size_t repeated = 0;
    Lifetimes anew(placement, order, limits);
    for (const OpId op : order.ops) {
      repeated += lifetimes.againAt(op) != Lifetimes::none ? 1 : 0;
      if (lifetimes.isRepeated(op)) {
        anew.repeat(op, lifetimes.lastEarly(op));
      }
    }
    anew.evaluate();
    CHECK(anew.profile(gpu) == lifetimes.profile(gpu)); // which was evaluated change by change
    CHECK(repeated > 0);
    CHECK(repeated <= size_t{3} * blocks); // the forward pass once more, at most
  }
  limits[gpu] = unlimited / 100;
  CHECK_FALSE(chooseCheckpoints(lifetimes, {placement, order, limits, machine, RooflineCostModel()}));
  CHECK(peakOf() == unlimited); // no op is marked
}

TEST_CASE("fitting: a variant that promises no quicker step than another plan is given up") {
  const Graph written = parsed(deepNet(1024));
  const Machine machine = shortMachine(written, 0.4);
  const Graph graph = rewritten(written, machine);
  Placement one = placedAlone(graph, machine), other = one;
  const FittedCandidate fitted = fitCandidate(one, graph, "single", machine, RooflineCostModel(), {});
  REQUIRE(fitted.seconds);
  CHECK_FALSE(fitted.isTooSlow);
  CHECK(one.policy != other.policy);
  const std::string before = other.policy;
  const FittedCandidate slower =
      fitCandidate(other, graph, "single", machine, RooflineCostModel(), {}, *fitted.seconds / 3);
  CHECK_FALSE(slower.seconds);
  CHECK(slower.isTooSlow);
  CHECK(other.policy == before);
}

TEST_CASE("fitting: the parts of micro-batches are not cut into ever smaller ones") {
  const Graph written = parsed(deepNet(1024));
  const Machine machine = shortMachine(written, 0.02);
  const auto parts = microBatches(rewritten(written, machine), 32);
  REQUIRE(parts);
  Placement placement = placedAlone(*parts, machine);
  StageCounter stages;
  CompileOptions options;
  options.observer = &stages;
  fitCandidate(placement, *parts, "single", machine, RooflineCostModel(), options);
  CHECK(stages.passes == 0); // no graph in smaller parts was fused
}

} // namespace dfc::test
