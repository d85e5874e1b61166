// Policy `auto`: candidates, the guard of one device, memory, and cheap scalars.
#include "compiler/compile.h"
#include "compiler/place/place.h"
#include "compiler/place/place_by_layers.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/verify/verify.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_plan.h"

#include <map>

namespace dfc::test {
namespace {

/// Seconds by op name and device; other ops take none.
class CostsByName : public CostModel {
 public:
  std::map<std::string, std::vector<double>> seconds;
  double opSeconds(const Graph& graph, OpId op, const Machine&, DeviceId device) const override {
    const auto found = seconds.find(std::string(graph.nameOf(op)));
    return found == seconds.end() ? 0 : found->second[device.index()];
  }
};

/// cpu0 and gpus, all connected by links of their own.
Machine fullyLinked(int gpus, double latency, double bandwidth) {
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = "", .launchSeconds = 1e-6});
  for (int i = 0; i < gpus; ++i) {
    machine.devices.add({.name = "gpu" + std::to_string(i),
                         .kind = DeviceKind::Gpu,
                         .model = "",
                         .memoryBandwidth = 1e12,
                         .launchSeconds = 1e-6});
  }
  connectAll(machine, latency, bandwidth);
  return machine;
}

Graph finished(Builder& g) {
  auto graph = std::move(g).finish();
  INFO((graph.ok() ? "" : render(graph.errors())));
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Placement placedBy(const std::string& policy, const Graph& graph, const Machine& machine,
                   const CostModel& cost) {
  auto placement = place(graph, machine, cost, policy);
  INFO((placement.ok() ? "" : render(placement.errors())));
  REQUIRE(placement.ok());
  return *std::move(placement);
}

std::string deviceOf(const Placement& placement, const Machine& machine, std::string_view value) {
  return machine.devices[placement.device[placement.graph[placement.graph.findValue(value)].producer]].name;
}

} // namespace

TEST_CASE("auto: several devices have to gain two parts in a hundred") {
  Builder g;
  const Tensor x = g.input("x", f32({1}));
  g.fetch("y", (relu(x).named("a") + exp(x).named("b")).named("y"));
  const Graph graph = finished(g);
  const Machine machine = fullyLinked(2, 0, 1); // 4 seconds a value
  // One device: 50 + b on the cpu. Spread: b on a gpu, where x arrives at 4, takes 2 and is back at 10.
  const auto policyFor = [&](double b) {
    CostsByName costs;
    costs.seconds = {{"a", {50, 500, 500}}, {"b", {b, 2, 2}}, {"y", {0, 0, 0}}};
    return placedBy("auto", graph, machine, costs).policy;
  };
  CHECK(policyFor(0.5) == "cpu0 alone"); // 50 of 50.5 is 0.99
  CHECK(policyFor(2) != "cpu0 alone");   // 50 of 52 is 0.96
}

TEST_CASE("auto: what no single device can hold is spread, and said") {
  // Two parameters of 400 bytes, each read once.
  Builder g;
  const Tensor p = g.parameter("p", f32({100})), q = g.parameter("q", f32({100}));
  g.fetch("y", (reduceMax(p).named("a") + reduceMax(q).named("b")).named("y"));
  const Graph graph = finished(g);
  Machine machine = fullyLinked(2, 0, 1);
  CostsByName costs;
  costs.seconds = {{"a", {90, 10, 10}}, {"b", {90, 10, 10}}, {"y", {90, 1, 1}}};
  const auto note = [](const Placement& placement) {
    return placement.policy.find("no single device has the memory") != std::string::npos;
  };
  CHECK_FALSE(note(placedBy("auto", graph, machine, costs)));
  for (const DeviceId device : machine.devices.ids()) {
    machine.devices[device].memoryBytes = 512 + 3 * 256; // a parameter, and a, b and y of 256 bytes each
  }
  const Placement spread = placedBy("auto", graph, machine, costs);
  INFO(spread.policy);
  CHECK(note(spread));
  CHECK(deviceOf(spread, machine, "p") != deviceOf(spread, machine, "q"));
  CompileOptions options;
  options.policy = "auto";
  CHECK(compile(graph, machine, costs, options).ok());
}

TEST_CASE("auto: of devices that are too small the fastest that holds all is taken") {
  Builder g;
  const Tensor p = g.parameter("p", f32({1000}));
  g.fetch("y", reduceMax(p).named("y"));
  const Graph graph = finished(g);
  Machine machine = fullyLinked(2, 1, 1000);
  CostsByName costs;
  costs.seconds = {{"y", {90, 10, 20}}};
  CHECK(deviceOf(placedBy("auto", graph, machine, costs), machine, "y") == "gpu0");
  machine.devices[DeviceId(1)].memoryBytes = 3000; // of 4000
  CHECK(deviceOf(placedBy("auto", graph, machine, costs), machine, "y") == "gpu1");
}

TEST_CASE("auto: a step count is kept on each device that reads it, and crosses no link between alike ones") {
  Builder g;
  const Tensor count = g.parameter("count", f32({}), constantInit(0));
  const Tensor next = (count + 1.0).named("next");
  g.assign(count, next);
  for (const char* device : {"gpu0", "gpu1"}) {
    const Tensor weight = g.parameter(std::string("weight ") + device, f32({1000}));
    g.assign(weight, (weight * next).named(std::string("update ") + device).on(device)).on(device);
  }
  const Graph graph = finished(g);
  const Machine machine = fullyLinked(2, 1e-5, 1e10);
  CompileOptions options;
  options.policy = "auto";
  const auto plan = compile(graph, machine, RooflineCostModel(), options);
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  CHECK(plan->placed().transfers.empty());
  CHECK(plan->placed().graph.findValue("count@gpu1").valid()); // a replica, with a next value of its own
}

TEST_CASE("insertTransfers: what is recomputed is computed on alike devices alone") {
  Builder g;
  const Tensor count = g.parameter("count", f32({}), constantInit(0));
  const Tensor next = (count + 1.0).named("next"), after = (next * 2.0).named("after");
  g.assign(count, next);
  g.fetch("a", relu(after).named("a"));
  g.fetch("b", relu(after).named("b"));
  g.fetch("c", relu(after).named("c"));
  const Graph graph = finished(g);
  const Machine machine = fullyLinked(2, 1e-5, 1e10);
  Placement placement = placedBy("single", graph, machine, RooflineCostModel());
  const auto put = [&](std::string_view value, uint32_t device) {
    placement.device[graph[graph.findValue(value)].producer] = DeviceId(device);
  };
  for (const OpId op : graph.ops()) {
    placement.device[op] = DeviceId(1);
  }
  put("b", 2);
  put("c", 0);
  const auto transfersOf = [&](std::string_view value) {
    const PlacedGraph placed = insertTransfers(placement, machine);
    CHECK(verifyPlacedGraph(placed, machine).empty());
    int found = 0;
    for (const OpId op : placed.graph.opsOf(OpKind::Transfer)) {
      found += placed.graph.nameOf(placed.graph[op].operands[0]) == value ? 1 : 0;
    }
    return found;
  };
  CHECK(transfersOf("after") == 2); // to gpu1 and to the cpu
  placement.recomputed = SideTable<OpId, bool>(graph.opCount(), false);
  for (const char* value : {"next", "after"}) {
    placement.recomputed[graph[graph.findValue(value)].producer] = true;
  }
  CHECK(transfersOf("after") == 1); // to the cpu
  CHECK(transfersOf("next") == 0);  // gpu1 has a replica of count, and its next value
}

TEST_CASE("layers: parameters are shared out evenly, each with the ops that read it") {
  Builder g;
  Tensor x = g.input("x", f32({1, 10}));
  for (int layer = 0; layer < 4; ++layer) {
    const std::string name = std::to_string(layer);
    x = relu(matmul(x, g.parameter("w" + name, f32({10, 10}))).named("m" + name)).named("r" + name);
  }
  g.fetch("y", x);
  const Graph graph = finished(g);
  const Machine machine = fullyLinked(2, 1e-5, 1e10);
  const RooflineCostModel cost;
  const PlacementProblem problem{graph, machine, cost, SideTable<OpId, DeviceId>(graph.opCount())};
  const Placement placement = placeByLayers(problem, {DeviceId(1), DeviceId(2)});
  for (const char* value : {"w0", "m0", "r0", "w1", "m1", "r1"}) {
    CHECK(deviceOf(placement, machine, value) == "gpu0");
  }
  for (const char* value : {"w2", "m2", "r2", "w3", "m3", "r3"}) {
    CHECK(deviceOf(placement, machine, value) == "gpu1");
  }
}

TEST_CASE("auto gives the same placement again") {
  Builder g;
  const Tensor x = g.input("x", f32({64, 64}));
  Tensor sum = x;
  for (int i = 0; i < 6; ++i) {
    sum = sum + matmul(x, tanh(x * static_cast<double>(i)));
  }
  g.fetch("y", sum);
  const Graph graph = finished(g);
  const Machine machine = fullyLinked(3, 1e-7, 1e11);
  const Placement once = placedBy("auto", graph, machine, RooflineCostModel());
  const Placement again = placedBy("auto", graph, machine, RooflineCostModel());
  CHECK(sameDevices(once, again));
  CHECK(once.policy == again.policy);
}

} // namespace dfc::test
