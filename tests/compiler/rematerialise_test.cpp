// Steps that do not fit into a device as written: with ops computed twice, or with the batch in parts; and
// pipelines, which are such parts on devices of their own.
#include "compiler/compile.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/pipelines.h"
#include "compiler/rematerialise/rematerialise.h"
#include "compiler/run_passes.h"
#include "compiler/split/pipeline/stages.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

constexpr int layers = 8;

/// Activations are f32[rows, width].
std::string deepNet(int rows, int width = 64) {
  std::string text = fmt::format("graph deep {{\n  input x : f32[{}, {}]\n", rows, width), names, gradients;
  std::string value = "x";
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  parameter w{0} : f32[{1}, {1}] = glorot(seed={0})\n", i, width);
  }
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  h{0} = gelu(matmul({1}, w{0}))\n", i, value);
    value = fmt::format("h{}", i);
    names += fmt::format(", w{}", i);
    gradients += fmt::format("{}d{}", i == 0 ? "" : ", ", i);
  }
  text += fmt::format("  loss = reduceMean(mul({0}, {0}))\n  {1} = gradients(loss{2})\n", value, gradients,
                      names);
  for (int i = 0; i < layers; ++i) {
    text += fmt::format("  n{0} = assign(w{0}, sub(w{0}, mul(d{0}, 0.1)))\n", i);
  }
  return text + "  fetch loss\n}";
}

Machine oneGpu() {
  Machine machine = smallMachine(1);
  const DeviceId gpu = machine.findDevice("gpu0");
  machine.devices[gpu].peakFlops.fill(1e12);
  machine.devices[gpu].memoryBandwidth = 1e12;
  return machine;
}

/// Devices that exchange gradients more slowly than the activations between two layers.
Machine slowLinks(Machine machine) {
  for (const DeviceId device : machine.devices.ids()) {
    const bool isHost = device == machine.host();
    machine.devices[device].peakFlops.fill(isHost ? 1e9 : 1e12);
    machine.devices[device].memoryBandwidth = 1e12;
  }
  for (const LinkId link : machine.links.ids()) {
    machine.links[link].bandwidth = 2e9;
    machine.links[link].latencySeconds = 1e-6;
  }
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

Graph rewritten(const Graph& graph, const Machine& machine) {
  CompileOptions options;
  auto expanded = runPasses(PassPhase::Expand, graph, machine, options);
  REQUIRE(expanded.ok());
  auto made = runPasses(PassPhase::Rewrite, *expanded, machine, options);
  REQUIRE(made.ok());
  return *std::move(made);
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
    parts = parts || plan.policy().find("the batch in") != std::string::npos;
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
  Machine limited = unlimited;
  // Parameters of 16 KiB a layer; an activation has 64 KiB, and a layer two that its gradient reads.
  limited.devices[limited.findDevice("gpu0")].memoryBytes = layers * (16 << 10) + 13 * (64 << 10);
  const auto made = rematerialise(placement, limited, RooflineCostModel(), 1);
  REQUIRE(made.has_value());
  CHECK(made->ops > 0);
  CHECK(made->seconds > 0);
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

TEST_CASE("stages of a pipeline: equal seconds, each layer's gradient and update beside it") {
  const Machine machine = slowLinks(smallMachine(2));
  const Graph graph = rewritten(parsed(deepNet(4096)), machine);
  const auto stage = stagesOf(graph, 2, machine, RooflineCostModel(), machine.findDevice("gpu0"));
  for (int i = 0; i < layers; ++i) {
    INFO("layer " << i);
    const OpId parameter = graph[graph.findValue(fmt::format("w{}", i))].producer;
    CHECK(stage[parameter] == (i < layers / 2 ? 0 : 1));
    for (const OpId assign : graph.opsOf(OpKind::Assign)) {
      if (graph[graph[assign].operands[0]].producer == parameter) {
        CHECK(stage[assign] == stage[parameter]);
        CHECK(stage[graph[graph[assign].operands[1]].producer] == stage[parameter]);
      }
    }
  }
}

TEST_CASE("pipelines give the step's values, and win where links are slow") {
  const Machine machine = slowLinks(smallMachine(2));
  const Graph graph = parsed(deepNet(256, 512)); // gradients of 8 MiB, activations of 512 KiB
  const Executable plan = planned(graph, machine, "auto");
  CHECK_THAT(plan.policy(), containing("pipeline of 2 stages"));
  CompileOptions searching;
  searching.planSteps = 20; // from the quickest split: a pipeline's stages are not changed
  const auto searched = compile(graph, machine, RooflineCostModel(), searching);
  REQUIRE(searched.ok());
  CHECK(searched->predictedSeconds() <= plan.predictedSeconds());
  CHECK(plan.predictedSeconds() < planned(graph, machine, "single").predictedSeconds());
  const Graph small = rewritten(parsed(deepNet(32, 32)), machine); // soon evaluated
  const NamedLiterals feeds = randomFeeds(small, 1), parameters = randomParameters(small, 1);
  const auto expected = evaluate(small, feeds, parameters);
  REQUIRE(expected);
  size_t looked = 0;
  for (const SplitGraph& one : pipelineCandidates(small, machine, RooflineCostModel(), 1e9)) {
    INFO(one.description);
    const auto actual = evaluate(one.graph, feeds, parameters);
    REQUIRE(actual);
    CHECK(actual->fetches.at("loss").at(0) == Approx(expected->fetches.at("loss").at(0)).epsilon(1e-5));
    ++looked;
  }
  CHECK(looked > 0);
}

} // namespace dfc::test
