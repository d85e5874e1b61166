#include "tests/property/plan_runs.h"

namespace dfc::test {
namespace {

void checkSame(const NamedLiterals& expected, const NamedLiterals& actual) {
  REQUIRE(expected.size() == actual.size());
  for (const auto& [name, literal] : expected) {
    INFO(name);
    REQUIRE(actual.count(name) == 1);
    CHECK(bitDifference(literal, actual.at(name)) == "");
  }
}

} // namespace

Machine machineOf(const Shape& shape) {
  Machine machine;
  machine.name = "random";
  machine.devices.add({.name = "cpu0",
                       .kind = DeviceKind::Cpu,
                       .model = "",
                       .computeQueues = shape.queues,
                       .memoryBandwidth = 1e10,
                       .launchSeconds = 1e-6});
  for (int i = 0; i < shape.gpus; ++i) {
    machine.devices.add({.name = "gpu" + std::to_string(i),
                         .kind = DeviceKind::Gpu,
                         .model = "",
                         .computeQueues = shape.queues,
                         .memoryBandwidth = 1e11,
                         .launchSeconds = 1e-7});
  }
  for (const DeviceId from : machine.devices.ids()) {
    for (const DeviceId to : machine.devices.ids()) {
      if (from != to && (shape.peers || from == machine.host() || to == machine.host())) {
        const LinkId link =
            machine.links.add({machine.devices[from].name + ">" + machine.devices[to].name, 1e-7, 1e9, 1});
        machine.routes.push_back({from, to, {link}});
      }
    }
  }
  return machine;
}

std::shared_ptr<const Executable> planOf(const Graph& graph, const Machine& machine,
                                         const CompileOptions& options) {
  auto plan = compile(graph, machine, RooflineCostModel(), options);
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  return std::make_shared<const Executable>(*std::move(plan));
}

std::vector<PinRule> randomPins(const Graph& graph, uint64_t seed) {
  Dice dice(seed);
  const std::vector<std::string> devices = {"cpu0", "gpu0", "gpu1"};
  std::vector<PinRule> pins;
  for (const OpId op : graph.ops()) {
    const OpClass kind = classOf(graph[op].kind());
    if (kind != OpClass::Source && kind != OpClass::State && dice.chance(50)) {
      pins.push_back({std::string(graph.nameOf(op)), dice.oneOf(devices)});
    }
  }
  return pins;
}

Outcome run(const std::shared_ptr<const Executable>& plan, const Graph& graph, uint64_t seed, int steps) {
  auto session = Session::open(plan);
  INFO((session.ok() ? "" : render(session.errors())));
  REQUIRE(session.ok());
  Outcome outcome;
  for (int step = 0; step < steps; ++step) {
    auto results = (*session)->run(randomFeeds(graph, seed * 100 + static_cast<uint64_t>(step)));
    INFO((results.ok() ? "" : render(results.errors())));
    REQUIRE(results.ok());
    outcome.fetches.push_back(*std::move(results));
  }
  outcome.state = (*session)->state();
  return outcome;
}

void checkSame(const Outcome& expected, const Outcome& actual) {
  REQUIRE(expected.fetches.size() == actual.fetches.size());
  for (size_t step = 0; step < expected.fetches.size(); ++step) {
    INFO("step " << step);
    checkSame(expected.fetches[step], actual.fetches[step]);
  }
  checkSame(expected.state, actual.state);
}

} // namespace dfc::test
