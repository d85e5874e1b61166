// Splits along several axes: pipelines, groups of devices and splits within them; and state in parts, where
// memory is short.
#include "compiler/compile.h"
#include "compiler/grids.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/place/place.h"
#include "compiler/split/choose_split.h"
#include "compiler/split/pipeline/stages.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/plan/executable.h"
#include "tests/compiler/split/deep_net.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/random_values.h"

#include <fmt/ranges.h>

#include <set>

namespace dfc::test {
namespace {

Executable planned(const Graph& graph, const Machine& machine, const CompileOptions& options) {
  auto plan = compile(graph, machine, RooflineCostModel(), options);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

Executable planned(const Graph& graph, const Machine& machine, const char* policy) {
  CompileOptions options;
  options.policy = policy;
  return planned(graph, machine, options);
}

/// The step's loss and next parameters, within rounding.
void checkValues(const Graph& graph, const Graph& split) {
  const NamedLiterals feeds = randomFeeds(graph, 1), parameters = randomParameters(graph, 1);
  const auto expected = evaluate(graph, feeds, parameters), actual = evaluate(split, feeds, parameters);
  REQUIRE(expected);
  REQUIRE(actual);
  CHECK(actual->fetches.at("loss").at(0) == Approx(expected->fetches.at("loss").at(0)).epsilon(1e-5));
  for (const auto& [name, value] : expected->parameters) {
    INFO(name);
    CHECK(actual->parameters.at(name).at(1) == Approx(value.at(1)).epsilon(1e-4).margin(1e-6));
  }
}

/// Four GPUs, gpu0 and gpu1 on the host of cpu0, gpu2 and gpu3 on another: links within hosts are fast, and
/// one slow pair of links joins the hosts.
Machine twoHosts(double fast, double slow) {
  Machine machine = slowLinks(smallMachine(4));
  const auto hostOf = [&](DeviceId device) {
    return device == machine.host() ? 0 : (device.index() - 1) / 2;
  };
  machine.routes.clear();
  machine.links = {};
  const LinkId between[2] = {machine.links.add({"to host 1", 1e-6, slow}),
                             machine.links.add({"to host 0", 1e-6, slow})};
  for (const DeviceId from : machine.devices.ids()) {
    for (const DeviceId to : machine.devices.ids()) {
      if (from != to) {
        const std::string name = machine.devices[from].name + " to " + machine.devices[to].name;
        const LinkId link =
            hostOf(from) == hostOf(to) ? machine.links.add({name, 1e-6, fast}) : between[hostOf(from)];
        machine.routes.push_back({from, to, {link}});
      }
    }
  }
  return machine;
}

/// Of the candidates whose description has this part.
double leastMakespan(llvm::ArrayRef<SplitGraph> candidates, std::string_view part, const Machine& machine) {
  const RooflineCostModel cost;
  double least = std::numeric_limits<double>::infinity();
  for (const SplitGraph& one : candidates) {
    if (one.description.find(part) != std::string::npos) {
      const auto fused = runPasses(PassPhase::Fuse, one.graph, machine, CompileOptions());
      REQUIRE(fused.ok());
      const auto placement = place(*fused, machine, cost, "pins");
      REQUIRE(placement.ok());
      least = std::min(least, predictedMakespan(*placement, decided(*placement, machine, cost, {})));
    }
  }
  return least;
}

} // namespace

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

TEST_CASE("stages of a pipeline: of equal crossings, the nearest to equal seconds") {
  const Machine machine = slowLinks(smallMachine(2));
  std::string text = "graph chain {\n  input x : f32[256, 256]\n", value = "x";
  for (int i = 0; i < 12; ++i) {
    text += fmt::format("  parameter w{0} : f32[256, 256] = glorot(seed={0})\n  h{0} = matmul({1}, w{0})\n",
                        i, value);
    value = fmt::format("h{}", i);
  }
  const Graph graph = rewritten(parsed(text + "  fetch h11\n}"), machine);
  const auto stage = stagesOf(graph, 2, machine, RooflineCostModel(), machine.findDevice("gpu0"));
  for (int i = 0; i < 12; ++i) {
    INFO("product " << i);
    CHECK(stage[graph[graph.findValue(fmt::format("h{}", i))].producer] == (i < 6 ? 0 : 1));
  }
}

TEST_CASE("pipelines give the step's values, and win where links are slow") {
  const Machine machine = slowLinks(smallMachine(2));
  const Graph graph = parsed(deepNet(256, 512)); // gradients of 8 MiB, activations of 512 KiB
  const Executable plan = planned(graph, machine, "auto");
  CHECK_THAT(plan.policy(), containing("pipeline of 2 stages"));
  CompileOptions searching;
  searching.planSteps = 20; // from the quickest split: a pipeline's stages are not changed
  CHECK(planned(graph, machine, searching).predictedSeconds() <= plan.predictedSeconds());
  CHECK(plan.predictedSeconds() < planned(graph, machine, "single").predictedSeconds());
  const Graph small = rewritten(parsed(deepNet(32, 32)), machine); // soon evaluated
  size_t looked = 0;
  for (const SplitGraph& one : gridCandidates(small, machine, RooflineCostModel(), {0, 1e9})) {
    INFO(one.description);
    checkValues(small, one.graph);
    ++looked;
  }
  CHECK(looked > 0);
}

TEST_CASE("interconnect domains: devices that reach each other quicker than others") {
  const RooflineCostModel cost;
  const Machine hosts = twoHosts(100e9, 5e9);
  const Graph graph = rewritten(parsed(deepNet(64)), hosts);
  for (const Mesh& mesh : candidateMeshes(graph, hosts, cost)) {
    CHECK(domainSize(mesh.devices, hosts, cost) == 2);
  }
  const Machine alike = twoHosts(100e9, 100e9);
  for (const Mesh& mesh : candidateMeshes(graph, alike, cost)) {
    CHECK(domainSize(mesh.devices, alike, cost) == mesh.size());
  }
}

TEST_CASE("groups of devices give the step's values, and win where links between groups are slow") {
  const Machine machine = twoHosts(100e9, 0.5e9);
  const RooflineCostModel cost;
  const Graph graph = rewritten(parsed(deepNet(2048, 512)), machine);
  const auto plain = splitCandidates(graph, machine, cost);
  REQUIRE(plain.ok());
  const double known = std::numeric_limits<double>::infinity();
  CHECK(leastMakespan(gridCandidates(graph, machine, cost, {known, known}), "2 groups of 2", machine) <
        0.8 * leastMakespan(*plain, "gpu0 to gpu3", machine));
  const Graph small = rewritten(parsed(deepNet(32, 32)), machine); // soon evaluated
  std::vector<std::string> looked;
  for (const SplitGraph& one : gridCandidates(small, machine, RooflineCostModel(), {0, 1e9})) {
    INFO(one.description);
    checkValues(small, one.graph);
    looked.push_back(one.description);
  }
  CHECK(llvm::is_contained(looked, "split over 2 groups of 2 devices: gpu0 to gpu3"));
  CHECK(llvm::is_contained(
      looked, "pipeline of 2 stages, each of 1 group of 2 devices: gpu0 to gpu3, 8 micro-batches"));
}

TEST_CASE("groups of devices: sums between groups arrive at all devices of a group alike") {
  const Machine machine = hostsOf(16, 4);
  const Graph graph = rewritten(parsed(deepNet(4096, 512)), machine);
  const auto split =
      splitOverGrid(graph, gridRows(largestClass(machine), {1, 4, 4}), machine, RooflineCostModel());
  REQUIRE(split);
  const Graph& parts = split->graph;
  std::set<std::pair<ValueId, uint32_t>> copies; // and the device that reads it
  std::vector<double> arrived(16, 0);            // bytes from other groups, by GPU
  for (const OpId op : parts.ops()) {
    for (const ValueId operand : parts[op].operands) {
      const uint32_t from = machine.findDevice(parts.pinOf(parts[operand].producer)).index();
      const uint32_t to = machine.findDevice(parts.pinOf(op)).index(); // cpu0 is device 0
      if (from > 0 && to > 0 && (from - 1) / 4 != (to - 1) / 4 && copies.insert({operand, to}).second) {
        arrived[to - 1] += static_cast<double>(parts.typeOf(operand).bytes());
      }
    }
  }
  CAPTURE(fmt::format("{}", fmt::join(arrived, " ")));
  const auto [least, most] = std::minmax_element(arrived.begin(), arrived.end());
  CHECK(*least > 0);
  CHECK(*most <= 1.05 * *least);
}

TEST_CASE("grids of alike hosts, of which one is fed") {
  Machine machine = slowLinks(smallMachine(3));
  for (const DeviceId device : machine.devices.ids()) {
    const std::string name = fmt::format("cpu{}", device.index());
    machine.devices[device] = machine.devices[machine.host()];
    machine.devices[device].name = name;
    machine.devices[device].peakFlops.fill(1e12);
  }
  const RooflineCostModel cost;
  const Graph graph = parsed(deepNet(256, 512));
  CHECK(planned(graph, machine, "auto").predictedSeconds() > 0);
  const Graph small = rewritten(parsed(deepNet(32, 32)), machine); // soon evaluated
  const auto found = gridCandidates(small, machine, cost, {0, 1e9});
  CHECK(!found.empty());
  for (const SplitGraph& one : found) {
    INFO(one.description);
    checkValues(small, one.graph);
    CHECK(place(one.graph, machine, cost, "pins").ok());
  }
}

TEST_CASE("state in parts that is read whole is gathered anew each step") {
  const Machine machine = slowLinks(smallMachine(4));
  const RooflineCostModel cost;
  const Graph graph =
      rewritten(parsed(deepNet(16384, 256)), machine); // of larger activations than parameters
  size_t looked = 0;
  for (const SplitGraph& one : candidatesForLittleMemory(graph, machine, cost)) {
    const auto fused = runPasses(PassPhase::Fuse, one.graph, machine, CompileOptions());
    REQUIRE(fused.ok());
    const auto placement = place(*fused, machine, cost, "pins");
    REQUIRE(placement.ok());
    const PlacedGraph placed = insertTransfers(*placement, machine);
    CHECK(placed.replicas.empty());
    SideTable<DeviceId, int64_t> state(machine.devices.size(), 0);
    for (const OpId op : placed.graph.opsOf(OpKind::Parameter)) {
      state[placed.device[op]] += placed.graph.typeOf(placed.graph[op].firstResult).bytes();
    }
    for (const DeviceId device : machine.devices.ids()) {
      CHECK(state[device] <= layers * (256 * 256 * 4) / 4);
    }
    ++looked;
  }
  CHECK(looked > 0);
  const Graph small = rewritten(parsed(deepNet(16, 256)), machine); // soon evaluated
  for (const SplitGraph& one : candidatesForLittleMemory(small, machine, cost)) {
    checkValues(small, one.graph);
  }
}

TEST_CASE("with little memory, groups of several devices hold parts of the state") {
  const Machine machine = slowLinks(smallMachine(8));
  const RooflineCostModel cost;
  const std::vector<DeviceId> devices = deviceClasses(machine).back();
  const auto stateOf = [&](const Graph& graph, const Grid& grid, MemoryUse memory) {
    const auto split = splitOverGrid(graph, gridRows(devices, grid), machine, cost,
                                     {grid.stages == 1 ? size_t{1} : 2 * grid.stages, {}, memory});
    REQUIRE(split);
    int64_t most = 0;
    for (const DeviceId device : devices) {
      int64_t bytes = 0;
      for (const OpId op : split->graph.opsOf(OpKind::Parameter)) {
        const bool isHere = split->graph.pinOf(op) == machine.devices[device].name;
        bytes += isHere ? split->graph.typeOf(split->graph[op].firstResult).bytes() : 0;
      }
      most = std::max(most, bytes);
    }
    return most;
  };
  const Graph graph = rewritten(parsed(deepNet(4096, 256)), machine);
  const Graph small = rewritten(parsed(deepNet(32, 256)), machine); // soon evaluated
  for (const Grid& grid : {Grid{1, 2, 4}, Grid{1, 4, 2}, Grid{2, 2, 2}}) {
    INFO(grid.stages << " x " << grid.groups << " x " << grid.width);
    const int64_t all = layers * (256 * 256 * 4) / static_cast<int64_t>(grid.stages);
    const int64_t ofGroup = all / static_cast<int64_t>(grid.width); // if every group holds all
    CHECK(stateOf(graph, grid, MemoryUse::Little) <= ofGroup * 3 / 4);
    CHECK(stateOf(graph, grid, MemoryUse::Ample) >= ofGroup);
    const auto split = splitOverGrid(small, gridRows(devices, grid), machine, cost,
                                     {grid.stages == 1 ? size_t{1} : 2 * grid.stages, {}, MemoryUse::Little});
    REQUIRE(split);
    checkValues(small, split->graph);
  }
}

} // namespace dfc::test
