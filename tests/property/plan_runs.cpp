#include "tests/property/plan_runs.h"

#include "ir/graph/rewriter.h"

#include <fmt/format.h>

#include <map>

namespace dfc::test {
namespace {

std::string difference(const NamedLiterals& expected, const NamedLiterals& actual) {
  if (expected.size() != actual.size()) {
    return fmt::format("{} values became {}", expected.size(), actual.size());
  }
  for (const auto& [name, literal] : expected) {
    const auto found = actual.find(name);
    const std::string bits = found == actual.end() ? "missing" : bitDifference(literal, found->second);
    if (!bits.empty()) {
      return fmt::format("{}: {}", name, bits);
    }
  }
  return "";
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

Graph pinned(const Graph& graph, llvm::ArrayRef<PinRule> pins) {
  std::map<std::string, std::string> devices;
  for (const PinRule& rule : pins) {
    devices[rule.pattern] = rule.device;
  }
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    const auto found = devices.find(std::string(graph.nameOf(op)));
    rewriter.builder().repin(rewriter.copy(op), found != devices.end() ? found->second : "");
  }
  return std::move(rewriter).finish();
}

Result<Outcome> outcomeOf(const std::shared_ptr<const Executable>& plan, const Graph& graph, uint64_t seed,
                          int steps) {
  SessionOptions options;
  options.gpuBackend = "emulated"; // its bits are those of the host; a GPU's own are not
  const auto session = Session::open(plan, options);
  if (!session.ok()) {
    return session.errors();
  }
  Outcome outcome;
  for (int step = 0; step < steps; ++step) {
    auto results = (*session)->run(randomFeeds(graph, seed * 100 + static_cast<uint64_t>(step)));
    if (!results.ok()) {
      return results.errors();
    }
    outcome.fetches.push_back(*std::move(results));
  }
  outcome.state = (*session)->state();
  return outcome;
}

Outcome run(const std::shared_ptr<const Executable>& plan, const Graph& graph, uint64_t seed, int steps) {
  auto outcome = outcomeOf(plan, graph, seed, steps);
  INFO(render(outcome.errors()));
  REQUIRE(outcome.ok());
  return *std::move(outcome);
}

std::string difference(const Outcome& expected, const Outcome& actual) {
  for (size_t step = 0; step < expected.fetches.size(); ++step) {
    const std::string fetched = difference(expected.fetches[step], actual.fetches.at(step));
    if (!fetched.empty()) {
      return fmt::format("step {}, {}", step, fetched);
    }
  }
  const std::string state = difference(expected.state, actual.state);
  return state.empty() ? "" : "parameter " + state;
}

void checkSame(const Outcome& expected, const Outcome& actual) {
  CHECK(expected.fetches.size() == actual.fetches.size());
  CHECK(difference(expected, actual) == "");
}

} // namespace dfc::test
