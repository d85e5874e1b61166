// makespanBound: never above the makespan of a schedule of the placement, and equal to values worked out by
// hand.
#include "compiler/place/makespan_bound.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"

namespace dfc::test {
namespace {

/// Every op takes a second wherever it runs, but sources, which take none.
class OneSecondEach : public CostModel {
 public:
  double opSeconds(const Graph& graph, OpId op, const Machine& /*machine*/,
                   DeviceId /*device*/) const override {
    return classOf(graph[op].kind()) == OpClass::Source ? 0 : 1;
  }
};

/// cpu0, gpu0 and gpu1 in a star: between the GPUs lies the host. A byte takes a millisecond, one at a time
/// into each GPU and two at a time out of it.
Machine star() {
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = ""});
  for (const std::string gpu : {"gpu0", "gpu1"}) {
    const DeviceId device = machine.devices.add({.name = gpu, .kind = DeviceKind::Gpu, .model = ""});
    const LinkId in = machine.links.add({gpu + " in", 0, 1e3, 1});
    const LinkId out = machine.links.add({gpu + " out", 0, 1e3, 2});
    machine.routes.push_back({DeviceId(0), device, {in}});
    machine.routes.push_back({device, DeviceId(0), {out}});
  }
  return machine;
}

/// Every op where its pin says.
Placement byPins(const PlacementProblem& problem) {
  Placement placement{problem.graph, problem.pins, "test"};
  for (const OpId op : problem.graph.ops()) {
    placement.device[op] = problem.pins[op].valid() ? problem.pins[op] : problem.machine.host();
  }
  return placement;
}

PlacementProblem problemOf(const Graph& graph, const Machine& machine, const CostModel& cost) {
  auto pins = resolvePins(graph, machine);
  INFO((pins ? "" : render(pins.errors())));
  REQUIRE(pins.ok());
  return {graph, machine, cost, *std::move(pins)};
}

Graph finish(Builder&& g) {
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

double leastOf(Builder&& g) {
  const Graph graph = finish(std::move(g));
  const Machine machine = star();
  const OneSecondEach cost;
  const PlacementProblem problem = problemOf(graph, machine, cost);
  const double least = makespanBound(byPins(problem), problem);
  CHECK(least <= predictedMakespan(byPins(problem), problem));
  return least;
}

} // namespace

TEST_CASE("makespanBound: the device with the most work, where nothing moves") {
  Builder g;
  const Tensor x = g.input("x", f32({1}));
  g.fetch("y", relu(exp(tanh(x))));
  CHECK(leastOf(std::move(g)) == Approx(3));
}

TEST_CASE("makespanBound: a link carries each value once, and none that is resident") {
  Builder g;
  const Tensor x = g.input("x", f32({2000})), w = g.parameter("w", f32({2000}), constantInit(1));
  const Tensor a = (x + w).on("gpu0"), b = (x * w).on("gpu0");
  g.fetch("y", reduceMax(a).on("gpu0"));
  g.fetch("z", reduceMax(b).on("gpu0"));
  CHECK(leastOf(std::move(g)) == Approx(8)); // x in; gpu0 computes for 4
}

TEST_CASE("makespanBound: a copy engine makes one copy after the other, whatever its link could") {
  Builder g;
  const Tensor x = g.input("x", f32({1}));
  for (const std::string name : {"a", "b", "c"}) { // 8 seconds each out of gpu0, whose link has two slots
    g.fetch(name, broadcast(exp(x).named(name).on("gpu0"), {2000}).on("gpu0"));
  }
  CHECK(leastOf(std::move(g)) == Approx(24));
}

TEST_CASE("makespanBound: a hop that an earlier copy has made is not made again") {
  Builder g;
  const Tensor x = g.input("x", f32({1}));
  const Tensor a = broadcast(exp(x).on("gpu0"), {2000}).on("gpu0"); // 8 seconds out of gpu0
  g.fetch("on the host", reduceMax(a));
  g.fetch("on gpu1", reduceMax(a).on("gpu1")); // from the host, 8 seconds into gpu1
  CHECK(leastOf(std::move(g)) == Approx(8));
}

TEST_CASE("makespanBound: no schedule of a random placement undercuts it") {
  const Machine machine = star();
  const OneSecondEach cost;
  RandomGraphOptions options;
  options.pins = {"cpu0", "gpu0", "gpu1"};
  size_t moving = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const Graph graph = randomGraph(seed, options);
    const auto pins = resolvePins(graph, machine);
    if (!pins) {
      continue; // an input off the host, or a parameter and its assign apart
    }
    const PlacementProblem problem{graph, machine, cost, *pins};
    const Placement placement = byPins(problem);
    const double least = makespanBound(placement, problem);
    INFO("seed " << seed);
    CHECK(least <= predictedMakespan(placement, problem));
    CHECK(predictedMakespan(placement, problem) == predictedMakespan(placement, problem, least));
    moving += insertTransfers(placement, machine).transfers.empty() ? 0 : 1;
  }
  CHECK(moving > 80);
}

} // namespace dfc::test
