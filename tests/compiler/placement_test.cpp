// Pins and policies on tensor graphs.
#include "compiler/compile.h"
#include "compiler/place/place.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "tests/support/catch.h"

#include <cmath>

namespace dfc::test {
namespace {

/// Seconds by op name and device, for decisions whose arithmetic a test can carry.
class NamedCosts : public CostModel {
 public:
  std::map<std::string, std::vector<double>> seconds;
  double opSeconds(const Graph& graph, OpId op, const Machine&, DeviceId device) const override {
    const auto found = seconds.find(std::string(graph.nameOf(op)));
    return found == seconds.end() ? 0 : found->second[device.index()];
  }
};

/// cpu0, gpu0, gpu1, all connected by links of 1 byte a second and no latency.
Machine slowLinks() {
  Machine machine;
  machine.name = "slow links";
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  machine.devices.add({.name = "gpu0", .kind = DeviceKind::Gpu, .model = ""});
  machine.devices.add({.name = "gpu1", .kind = DeviceKind::Gpu, .model = ""});
  for (uint32_t from = 0; from < 3; ++from) {
    for (uint32_t to = 0; to < 3; ++to) {
      if (from != to) {
        const LinkId link = machine.links.add({"l" + std::to_string(from) + std::to_string(to), 0, 1, 1});
        machine.routes.push_back({DeviceId(from), DeviceId(to), {link}});
      }
    }
  }
  return machine;
}

Graph twoBranches(std::string_view pin = "") {
  Builder g;
  Tensor x = g.input("x", f32({1}));
  Tensor a = relu(x).named("a");
  Tensor b = exp(x).named("b");
  g.fetch("y", (a + b).named("y"));
  if (!pin.empty()) {
    a.on(pin);
  }
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

std::string deviceOf(const Placement& placement, const Machine& machine, std::string_view value) {
  return machine.devices[placement.device[placement.graph[placement.graph.findValue(value)].producer]].name;
}

Placement placed(const Graph& graph, const Machine& machine, const CostModel& cost,
                 const std::string& policy = "heft") {
  auto placement = place(graph, machine, cost, policy);
  INFO((placement.ok() ? "" : render(placement.errors())));
  REQUIRE(placement.ok());
  return *std::move(placement);
}

} // namespace

TEST_CASE("HEFT spreads two branches when that pays for the copies") {
  const Machine machine = slowLinks();
  NamedCosts costs;
  costs.seconds = {{"a", {50, 100, 100}}, {"b", {100, 30, 100}}, {"y", {1, 1, 1}}};
  // spread: a on the cpu ends at 50; b: x arrives at 4, ends at 34, is back at 38; y ends at 51. One device:
  // 151 at best.
  const Placement placement = placed(twoBranches(), machine, costs);
  CHECK(deviceOf(placement, machine, "a") == "cpu0");
  CHECK(deviceOf(placement, machine, "b") == "gpu0");
  CHECK(placement.policy == "heft");
}

TEST_CASE("one device alone is kept when copies cost more than they save") {
  const Machine machine = slowLinks();
  NamedCosts costs;
  costs.seconds = {{"a", {3, 2, 2}}, {"b", {3, 2, 2}}, {"y", {1, 1, 1}}};
  // the cpu alone: 3 + 3 + 1 = 7; any gpu first waits 4 for x, and y's way back takes 4
  const Placement placement = placed(twoBranches(), machine, costs);
  for (const char* value : {"a", "b", "y"}) {
    CHECK(deviceOf(placement, machine, value) == "cpu0");
  }
}

TEST_CASE("several devices are kept for a gain of more than a tenth") {
  const Machine machine = slowLinks();
  // One device: 50 + b on the cpu. Spread: b on a gpu, where x arrives at 4, takes 2 and is back at 10,
  // beside a.
  const auto policyFor = [&](double b) {
    NamedCosts costs;
    costs.seconds = {{"a", {50, 500, 500}}, {"b", {b, 2, 2}}, {"y", {0, 0, 0}}};
    return placed(twoBranches(), machine, costs).policy;
  };
  CHECK(policyFor(5) == "cpu0 alone"); // 50 of 55 is 0.91
  CHECK(policyFor(6) == "heft");       // 50 of 56 is 0.89
}

TEST_CASE("a device that cannot hold the parameters is no single device to compare with") {
  // Two parameters of 400 bytes, each read once.
  Builder g;
  const Tensor p = g.parameter("p", f32({100})), q = g.parameter("q", f32({100}));
  g.fetch("y", (reduceMax(p).named("a") + reduceMax(q).named("b")).named("y"));
  const Graph graph = *std::move(g).finish();
  Machine machine = slowLinks();
  NamedCosts costs;
  costs.seconds = {{"a", {90, 10, 10}}, {"b", {90, 10, 10}}, {"y", {1, 1, 1}}};
  CHECK(placed(graph, machine, costs).policy != "cpu0 alone"); // a gpu is faster
  machine.devices[DeviceId(1)].memoryBytes = machine.devices[DeviceId(2)].memoryBytes = 300;
  CHECK(placed(graph, machine, costs).policy == "cpu0 alone"); // no gpu holds even one of them
  machine.devices[DeviceId(0)].memoryBytes = 500;
  machine.devices[DeviceId(1)].memoryBytes = machine.devices[DeviceId(2)].memoryBytes = 500;
  CHECK(placed(graph, machine, costs).policy == "heft"); // no device holds both
}

TEST_CASE("a pin rule matches any result of an op") {
  Builder g;
  const std::vector<Tensor> parts = split(g.input("x", f32({4})), {2, 2});
  parts[0].named("first");
  parts[1].named("second");
  g.fetch("y", (parts[0] + parts[1]).named("y"));
  const Machine machine = slowLinks();
  const auto pinned = applyPinRules(*std::move(g).finish(), machine, {{"second", "gpu1"}});
  REQUIRE(pinned.ok());
  CHECK(pinned->pinOf((*pinned)[pinned->findValue("first")].producer) == "gpu1");
}

TEST_CASE("pins bind every policy") {
  const Machine machine = slowLinks();
  for (const PolicyRow& policy : allPolicies()) {
    const Placement placement =
        placed(twoBranches("gpu1"), machine, RooflineCostModel(), std::string(policy.name));
    INFO(policy.name);
    CHECK(deviceOf(placement, machine, "a") == "gpu1");
  }
}

TEST_CASE("pins: an op without one runs where its largest operand was made, and constants are made nowhere") {
  const Machine machine = slowLinks();
  Builder g;
  const Tensor a = relu(g.input("x", f32({1}))).named("a").on("gpu1");
  const Tensor table = g.constant(Literal(f32({8})));
  g.fetch("y", (a + table).named("y")); // 4 bytes of a, 32 of a constant
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  CHECK(deviceOf(placed(*graph, machine, RooflineCostModel(), "pins"), machine, "y") == "gpu1");
}

TEST_CASE("policy single says which other devices the pins use") {
  const Machine machine = slowLinks();
  NamedCosts costs; // b and y cost nothing extra on the cpu, and everything elsewhere
  costs.seconds = {{"a", {1, 1, 1}}, {"b", {1, 99, 99}}, {"y", {1, 99, 99}}};
  CHECK(placed(twoBranches("gpu1"), machine, costs, "single").policy == "cpu0, and gpu1 by pins");
  CHECK(placed(twoBranches("cpu0"), machine, costs, "single").policy == "cpu0 alone");
  CHECK(placed(twoBranches(), machine, costs, "single").policy == "cpu0 alone");
}

TEST_CASE("policy single tries devices that are alike, too, where a pin ties the plan to one of them") {
  const Machine machine = slowLinks();
  Builder g;
  const Tensor a = relu(g.input("x", f32({1}))).named("a").on("gpu1");
  g.fetch("b", exp(a).named("b"));
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  NamedCosts costs;
  costs.seconds = {{"a", {1, 1, 1}}, {"b", {100, 1, 1}}};
  // x arrives at gpu1 at 4, a ends at 5. There b ends at 6 and is back at 10; on gpu0 a arrives at 9, and b
  // is back at 14.
  CHECK(deviceOf(placed(*graph, machine, costs, "single"), machine, "b") == "gpu1");
}

TEST_CASE("a pin rule by pattern wins over the graph's pin, a later rule over an earlier") {
  const Machine machine = slowLinks();
  const auto pinned = applyPinRules(twoBranches("gpu1"), machine, {{"[ab]", "cpu0"}, {"a*", "gpu0"}});
  REQUIRE(pinned.ok());
  const Placement placement = placed(*pinned, machine, RooflineCostModel());
  CHECK(deviceOf(placement, machine, "a") == "gpu0");
  CHECK(deviceOf(placement, machine, "b") == "cpu0");
}

TEST_CASE("rules that cannot hold are named, all at once") {
  const auto pinned = applyPinRules(twoBranches(), slowLinks(), {{"nothing*", "gpu0"}, {"b", "gpu7"}});
  REQUIRE(!pinned.ok());
  REQUIRE(pinned.errors().size() == 2);
  CHECK(pinned.errors()[0].message == "pin 'nothing*=gpu0' matches no op and no scope");
  CHECK(pinned.errors()[1].message == "pin 'b=gpu7' names a device that machine 'slow links' does not have");
  CHECK(pinned.errors()[1].hint == "did you mean 'gpu0'? machine 'slow links' has cpu0, gpu0, gpu1");
}

TEST_CASE("a pin to a device that the machine does not have names op, place and the nearest device") {
  const auto placement = place(twoBranches("gpu2"), slowLinks(), RooflineCostModel(), "heft");
  REQUIRE(!placement.ok());
  REQUIRE(placement.errors().size() == 1);
  CHECK(placement.errors()[0].message == "'a' is pinned to 'gpu2', which machine 'slow links' does not have");
  CHECK(placement.errors()[0].hint == "did you mean 'gpu0'? machine 'slow links' has cpu0, gpu0, gpu1");
  CHECK(placement.errors()[0].where.line != 0);
}

TEST_CASE("an input pinned off the host and an assign pinned away from its parameter are refused") {
  Builder g;
  Tensor x = g.input("x", f32({1})).on("gpu0");
  Tensor w = g.parameter("w", f32({1})).on("gpu0");
  g.assign(w, x).on("gpu1");
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  const auto placement = place(*graph, slowLinks(), RooflineCostModel(), "heft");
  REQUIRE(!placement.ok());
  REQUIRE(placement.errors().size() == 2);
  CHECK(placement.errors()[0].message == "input 'x' is pinned to gpu0, but inputs arrive on the host, cpu0");
  CHECK(placement.errors()[1].message == "parameter 'w' is pinned to gpu0, its assign to gpu1");
}

TEST_CASE("an unknown policy suggests the nearest") {
  const auto placement = place(twoBranches(), slowLinks(), RooflineCostModel(), "hefty");
  REQUIRE(!placement.ok());
  CHECK(placement.errors()[0].message == "there is no placement policy 'hefty'");
  CHECK(placement.errors()[0].hint == "did you mean 'heft'?");
}

TEST_CASE("a machine too slow to plan with is refused, and the slowest other one is planned for") {
  Machine machine = slowLinks();
  const auto compiled = [&](const PolicyRow& policy) {
    CompileOptions options;
    options.policy = policy.name;
    return compile(twoBranches("gpu0"), machine, RooflineCostModel(), options);
  };
  for (const PolicyRow& policy : allPolicies()) {
    INFO(policy.name);
    machine.devices[DeviceId(1)].memoryBandwidth = 1e-300;
    const auto refused = compiled(policy);
    REQUIRE(!refused.ok());
    CHECK(refused.errors()[0].message ==
          "machine 'slow links': devices[1].memoryBandwidth: 1e-300 is too slow to plan with");
    machine.devices[DeviceId(1)].memoryBandwidth = 1e-30;
    const auto slow = compiled(policy);
    REQUIRE(slow.ok());
    CHECK(slow->schedule().makespan >= 8 / 1e-30); // a reads 4 bytes there and writes 4
    CHECK(std::isfinite(slow->schedule().makespan));
  }
}

TEST_CASE("an op that takes for ever wherever it may run is refused by every policy") {
  constexpr double never = std::numeric_limits<double>::infinity();
  const Machine machine = slowLinks();
  NamedCosts costs;
  costs.seconds = {{"a", {1, never, 1}}, {"b", {never, never, never}}};
  for (const PolicyRow& policy : allPolicies()) {
    INFO(policy.name);
    const auto placement = place(twoBranches("gpu0"), machine, costs, std::string(policy.name));
    REQUIRE(!placement.ok());
    REQUIRE(placement.errors().size() == 2);
    CHECK(placement.errors()[0].message == "'a' cannot run on gpu0, where it has to: it would take for ever");
    CHECK(placement.errors()[1].message == "'b' cannot run on any device: it would take for ever");
    CHECK(placement.errors()[1].where.line > 0);
  }
}

TEST_CASE("ops that run on different devices only: heft spreads them, one device alone is refused") {
  constexpr double never = std::numeric_limits<double>::infinity();
  const Machine machine = slowLinks();
  NamedCosts costs;
  costs.seconds = {{"a", {1, never, never}}, {"b", {never, 1, never}}};
  const Placement spread = placed(twoBranches(), machine, costs);
  CHECK(deviceOf(spread, machine, "a") == "cpu0");
  CHECK(deviceOf(spread, machine, "b") == "gpu0");
  const auto single = place(twoBranches(), machine, costs, "single");
  REQUIRE(!single.ok());
  CHECK(single.errors()[0].message ==
        "'b' cannot run on cpu0, where this policy puts it (cpu0 alone): it would take for ever");
  const auto pins = place(twoBranches(), machine, costs, "pins");
  REQUIRE(!pins.ok());
  CHECK(pins.errors()[0].hint == "pin it to a device that can, or choose policy heft");
}

} // namespace dfc::test
