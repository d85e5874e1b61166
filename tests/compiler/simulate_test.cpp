// Predicted times of whole plans where devices begin late and where their queues share them: the schedule,
// its bounds and the simulation say the same, and it is what the arithmetic says.
#include "compiler/compile.h"
#include "compiler/place/place.h"
#include "compiler/simulate/simulate.h"
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/executable_parts.h"
#include "ir/plan/memory_traffic.h"
#include "tests/support/catch.h"

namespace dfc {
namespace {

/// A cpu that computes 1000 operations a second and a gpu of 8000 with some queues, joined by links without
/// cost. No launch, no limit on bandwidth.
Machine machineOf(uint32_t gpuQueues, double stepOverhead) {
  Machine machine;
  machine.name = "by hand";
  DeviceRow cpu, gpu;
  cpu.name = "cpu0";
  cpu.peakFlops.fill(1000);
  gpu.name = "gpu0";
  gpu.kind = DeviceKind::Gpu;
  gpu.peakFlops.fill(8000);
  gpu.computeQueues = gpuQueues;
  gpu.stepOverheadSeconds = stepOverhead;
  machine.devices.add(cpu);
  machine.devices.add(gpu);
  for (uint32_t from = 0; from < 2; ++from) {
    const LinkId link = machine.links.add({from == 0 ? "in" : "out", 0, 0, 1});
    machine.routes.push_back({DeviceId(from), DeviceId(1 - from), {link}});
  }
  return machine;
}

/// Products of a 10 x 10 parameter, 2 x 10^3 operations each, none of which needs another.
Graph products(int count, std::string_view device) {
  Builder g("products");
  const Tensor w = g.parameter("w", f32({10, 10}), constantInit(1));
  if (!device.empty()) {
    w.on(device);
  }
  for (int i = 0; i < count; ++i) {
    Tensor product = matmul(w, w);
    g.fetch("p" + std::to_string(i), device.empty() ? product : product.on(device));
  }
  auto graph = std::move(g).finish();
  REQUIRE(graph.ok());
  return *std::move(graph);
}

Executable planOf(const Graph& graph, const Machine& machine) {
  CompileOptions options;
  options.skipPasses = {"share_common_ops"};
  auto plan = compile(graph, machine, RooflineCostModel(), options);
  INFO((plan.ok() ? "" : render(plan.errors())));
  REQUIRE(plan.ok());
  return *std::move(plan);
}

} // namespace

TEST_CASE("step overhead: the device's queues begin after it, the bounds count it, simulation agrees") {
  const Executable plan = planOf(products(2, "gpu0"), machineOf(1, 0.5));
  // 0.5 s, then twice 2000 / 8000 = 0.25 s.
  CHECK(plan.schedule().makespan == 1);
  CHECK(plan.schedule().bounds.criticalPath == 0.75);
  CHECK(plan.schedule().bounds.busiestQueue == 1);
  const Simulation simulation = simulate(plan);
  CHECK(simulation.makespan == 1);
  for (const Span& span : simulation.trace.spans) {
    CHECK(span.begin == plan.schedule().steps[span.step].start);
    CHECK(span.end == plan.schedule().steps[span.step].end);
  }
}

TEST_CASE("step overhead: work that is over before the gpu begins stays on the cpu") {
  // Two products take the cpu 2 x 2 s, the gpu 0.5 s and its overhead.
  for (const double overhead : {1.0, 10.0}) {
    const Machine machine = machineOf(1, overhead);
    const auto placement = place(products(2, ""), machine, RooflineCostModel(), "heft");
    REQUIRE(placement.ok());
    const Graph& graph = placement->graph;
    const OpId product = graph[graph.fetches()[0].value].producer;
    CHECK(machine.devices[placement->device[product]].name == (overhead == 1 ? "gpu0" : "cpu0"));
  }
}

TEST_CASE("shared queues: two queues of a gpu do not make it twice as fast") {
  const Executable one = planOf(products(4, "gpu0"), machineOf(1, 0));
  const Executable two = planOf(products(4, "gpu0"), machineOf(2, 0));
  CHECK(one.schedule().makespan == 1); // 4 x 0.25 s
  // Each uses all of the gpu, so two at once take twice as long: 2 x 0.5 s.
  CHECK(two.schedule().makespan == 1);
  CHECK(two.schedule().bounds.busiestQueue == 1); // and that is proven
  CHECK(simulate(two).makespan == 1);
  for (const StepRow& step : two.schedule().steps) {
    const bool computes = two.graph()[step.op].kind() == OpKind::Matmul;
    CHECK(step.utilisation == (computes ? 1 : 0));
    CHECK(step.slowed == (computes ? 0.25 : 0));
    CHECK(step.alone() == (computes ? 0.25 : 0));
  }
}

TEST_CASE("shared queues: launches take nothing from one another") {
  Machine machine = machineOf(2, 0);
  machine.devices[DeviceId(1)].launchSeconds = 0.75;
  // Alone 0.75 + 0.25 = 1 s, of which a quarter is work: two at once use half of the gpu. Four take 2
  // s on two queues.
  const Executable plan = planOf(products(4, "gpu0"), machine);
  CHECK(plan.schedule().makespan == 2);
  CHECK(plan.schedule().bounds.busiestQueue == 2);
  CHECK(simulate(plan).makespan == 2);
}

TEST_CASE("shared memory: copies of two GPUs to a host share its bandwidth") {
  // Each GPU copies 4000 bytes to the host, which takes 4 s alone, and the host's memory moves 1250 bytes a
  // second: together they take 8000 / 1250 s.
  Machine machine;
  machine.devices.add({.name = "cpu0", .kind = DeviceKind::Cpu, .model = "", .memoryBandwidth = 1250});
  Builder g("memory");
  for (const std::string gpu : {"gpu0", "gpu1"}) {
    const DeviceId device = machine.devices.add({.name = gpu, .kind = DeviceKind::Gpu, .model = ""});
    for (const auto& [from, to] : {std::pair(DeviceId(0), device), std::pair(device, DeviceId(0))}) {
      const LinkId link = machine.links.add({gpu + (from == device ? " out" : " in"), 0, 1000, 1});
      machine.routes.push_back({from, to, {link}});
    }
    g.fetch(gpu, exp(g.parameter("w." + gpu, f32({1000}), constantInit(1)).on(gpu)).on(gpu));
  }
  const Executable plan = planOf(*std::move(g).finish(), machine);
  CHECK(plan.schedule().makespan == Approx(6.4));
  CHECK(plan.schedule().bounds.busiestQueue == Approx(6.4));
  CHECK(plan.schedule().bounds.busiestLink == Approx(4));
  CHECK(simulate(plan).makespan == Approx(6.4));
  for (const StepRow& step : plan.schedule().steps) {
    const bool copies = plan.placed().transfers.count(step.op) != 0;
    const MemoryTraffic traffic = memoryTraffic(plan.placed(), step.op, step.alone(), machine);
    CHECK(traffic.device == (copies ? DeviceId(0) : DeviceId()));
    CHECK(traffic.share == Approx(copies ? 0.8 : 0));
    CHECK(step.slowed == Approx(copies ? 2.4 : 0));
    // In less time than its link takes it is no copy over the link.
    CHECK_FALSE(memoryTraffic(plan.placed(), step.op, step.alone() / 2, machine).device.valid());
  }
  CHECK(Executable::parse(plan.serialise(), "plan").ok()); // the verifier agrees
}

TEST_CASE("shared queues: a plan keeps utilisations and times when it is saved") {
  const Executable plan = planOf(products(4, "gpu0"), machineOf(2, 0.5));
  const auto file = plan.serialise();
  const auto again = Executable::parse(file, "plan");
  REQUIRE(again.ok());
  CHECK(again->machine().devices[DeviceId(1)].stepOverheadSeconds == 0.5);
  for (const StepId step : plan.schedule().steps.ids()) {
    CHECK(again->schedule().steps[step].utilisation == plan.schedule().steps[step].utilisation);
    CHECK(again->schedule().steps[step].slowed == plan.schedule().steps[step].slowed);
  }
  CHECK(simulate(*again).makespan == simulate(plan).makespan);
}

} // namespace dfc
