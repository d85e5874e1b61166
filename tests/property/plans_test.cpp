// What must hold of every plan, over random graphs of the whole op table: sealing accepts it (every verifier
// passes), its makespan is not below its bounds, simulation agrees with the schedule, and wherever it runs
// the results and the parameters are those of the one-device run, bit for bit, step after step.
#include "compiler/compile.h"
#include "compiler/place/place.h"
#include "compiler/simulate/simulate.h"
#include "runtime/session.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"

namespace dfc::test {
namespace {

struct Shape {
  int gpus = 0;
  bool peers = false;
  uint32_t queues = 1;
};

/// cpu0 and some gpus. Without peer routes copies between gpus are staged through the host.
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

/// About half of the computing ops pinned at random.
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

struct Outcome {
  std::vector<NamedLiterals> fetches;
  NamedLiterals state;
};

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

void checkPlan(const Executable& plan) {
  const double slack = 1 - 1e-9;
  CHECK(plan.schedule().makespan >= plan.schedule().bounds.best() * slack);
  const Simulation simulation = simulate(plan);
  CHECK(simulation.trace.spans.size() == plan.schedule().steps.size());
  CHECK(simulation.makespan >= plan.schedule().bounds.best() * slack);
}

// The sign and payload of a NaN are nobody's promise: a pin may keep an op that algebra removes elsewhere.
void checkSame(const NamedLiterals& expected, const NamedLiterals& actual) {
  REQUIRE(expected.size() == actual.size());
  for (const auto& [name, literal] : expected) {
    INFO(name);
    REQUIRE(actual.count(name) == 1);
    CHECK(bitDifference(literal, actual.at(name)) == "");
  }
}

void checkSame(const Outcome& expected, const Outcome& actual) {
  REQUIRE(expected.fetches.size() == actual.fetches.size());
  for (size_t step = 0; step < expected.fetches.size(); ++step) {
    INFO("step " << step);
    checkSame(expected.fetches[step], actual.fetches[step]);
  }
  checkSame(expected.state, actual.state);
}

void checkRandomGraph(uint64_t seed) {
  RandomGraphOptions kind;
  kind.scopes = {"a", "b", "a/c"};
  kind.ops = 20 + seed % 60;
  const Graph graph = randomGraph(seed, kind);
  CompileOptions options;
  options.policy = "single";
  const auto reference = planOf(graph, machineOf({}), options);
  checkPlan(*reference);
  const Outcome expected = run(reference, graph, seed, 3);
  options.pins = randomPins(graph, seed);
  for (const Shape& shape : {Shape{2, true, 1}, Shape{2, false, 2}, Shape{3, true, 2}}) {
    for (const PolicyRow& policy : allPolicies()) {
      INFO("seed " << seed << ", policy " << policy.name << ", " << shape.gpus << " gpus");
      options.policy = std::string(policy.name);
      const auto plan = planOf(graph, machineOf(shape), options);
      checkPlan(*plan);
      checkSame(expected, run(plan, graph, seed, 3));
    }
  }
}

} // namespace

TEST_CASE("random graphs: every plan gives the bits of the one-device run") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    checkRandomGraph(seed);
  }
}

TEST_CASE("random graphs, the long run", "[heavy]") {
  for (uint64_t seed = 1000; seed < 3000; ++seed) {
    checkRandomGraph(seed);
  }
}

} // namespace dfc::test
