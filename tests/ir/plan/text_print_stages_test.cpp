// The printed forms of the later stages, over a plan made by hand: y = relu(x * w) with w and relu on a GPU,
// the input on the host, so that there is a transfer each way.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/print/print.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

namespace dfc {
namespace {

struct Plan {
  Machine machine;
  PlacedGraph placed;
  Schedule schedule;
  MemoryPlan memory;
};

Machine twoDevices() {
  Machine machine;
  machine.name = "laptop";
  DeviceRow cpu;
  cpu.name = "cpu0";
  DeviceRow gpu;
  gpu.name = "gpu10";
  gpu.kind = DeviceKind::Gpu;
  gpu.memoryBytes = 1'000'000;
  const DeviceId host = machine.devices.add(cpu);
  const DeviceId card = machine.devices.add(gpu);
  const LinkId down = machine.links.add({"pcie down", 1e-5, 1e9, 1});
  const LinkId up = machine.links.add({"pcie up", 1e-5, 1e9, 1});
  machine.routes = {{host, card, {down}}, {card, host, {up}}};
  return machine;
}

Graph placedGraph() {
  Builder g("line\nbreak");
  const Tensor x = g.input("x", f32({1000}));
  const Tensor w = g.parameter("w", f32({1000}), constantInit(2));
  const Tensor xGpu = g.op(ops::Transfer{}, {x}, std::source_location::current()).named("x on gpu");
  Tensor y;
  {
    const auto scope = g.scope("forward");
    y = relu((xGpu * w).named("xw")).named("y");
  }
  g.assign(w, y).named("next");
  g.fetch("result", g.op(ops::Transfer{}, {y}, std::source_location::current()).named("y.host"));
  return *std::move(g).finish();
}

// Queues: cpu0 compute, gpu10 compute, gpu10 copyIn, gpu10 copyOut. Every step takes 10 µs.
Schedule scheduleOf(const PlacedGraph& placed) {
  Schedule schedule;
  schedule.stepOf = SideTable<OpId, StepId>(placed.graph.opCount());
  for (const QueueKind kind : {QueueKind::Compute, QueueKind::CopyIn, QueueKind::CopyOut}) {
    schedule.queues.add({DeviceId(1), kind, 0, {}});
  }
  schedule.queues.add({DeviceId(0), QueueKind::Compute, 0, {}});
  const auto add = [&](std::string_view name, uint32_t queue, llvm::SmallVector<StepId, 2> waits,
                       double start) {
    const OpId op = placed.graph[placed.graph.findValue(name)].producer;
    const StepId step = schedule.steps.add({op, QueueId(queue), 0, std::move(waits), start, start + 1e-5});
    schedule.queues[QueueId(queue)].steps.push_back(step);
    schedule.stepOf[op] = step;
    return step;
  };
  const StepId x = add("x", 3, {}, 0);
  const StepId copy = add("x on gpu", 1, {x}, 1e-5);
  add("xw", 0, {copy}, 2e-5);
  const StepId y = add("y", 0, {}, 3e-5);
  add("y.host", 2, {y}, 4e-5);
  add("next", 0, {}, 4e-5);
  schedule.makespan = 5e-5;
  schedule.bounds = {4e-5, 3e-5, 1e-5};
  schedule.steady = {4e-5, 3e-5};
  return schedule;
}

MemoryPlan memoryOf(const PlacedGraph& placed) {
  MemoryPlan memory;
  memory.slots = SideTable<ValueId, Slot>(placed.graph.valueCount());
  const auto at = [&](std::string_view name, uint32_t device, int64_t offset) {
    memory.slots[placed.graph.findValue(name)] = {DeviceId(device), offset, 4000};
  };
  at("x", 0, 0);
  at("y.host", 0, 4096);
  at("w", 1, 0);
  at("next", 1, 0);
  at("x on gpu", 1, 4096);
  at("xw", 1, 4096);
  at("y", 1, 8192);
  memory.arenaBytes = memory.residentBytes = memory.lowerBound = SideTable<DeviceId, int64_t>(2);
  memory.arenaBytes[DeviceId(0)] = memory.lowerBound[DeviceId(0)] = 8192;
  memory.residentBytes[DeviceId(1)] = 4096;
  memory.arenaBytes[DeviceId(1)] = memory.lowerBound[DeviceId(1)] = 12288;
  return memory;
}

Plan handMade() {
  Plan plan;
  plan.machine = twoDevices();
  plan.placed.graph = placedGraph();
  const Graph& graph = plan.placed.graph;
  plan.placed.device = SideTable<OpId, DeviceId>(graph.opCount(), DeviceId(1));
  const auto opOf = [&](std::string_view name) { return graph[graph.findValue(name)].producer; };
  plan.placed.device[opOf("x")] = plan.placed.device[opOf("y.host")] = DeviceId(0);
  plan.placed.transfers[opOf("x on gpu")] = {DeviceId(0), DeviceId(1), {LinkId(0)}, 4000};
  plan.placed.transfers[opOf("y.host")] = {DeviceId(1), DeviceId(0), {LinkId(1)}, 4000};
  plan.placed.orderings = {{opOf("xw"), opOf("next")}};
  plan.schedule = scheduleOf(plan.placed);
  plan.memory = memoryOf(plan.placed);
  return plan;
}

TEST_CASE("the placed graph, the schedule and the memory plan in print", "[text]") {
  const Plan plan = handMade();
  test::checkGolden("text/placed.txt", printPlaced(plan.placed, plan.machine));
  test::checkGolden("text/schedule.txt", printSchedule(plan.schedule, plan.placed, plan.machine));
  test::checkGolden("text/memory.txt", printMemory(plan.memory, plan.schedule, plan.placed, plan.machine));
}

} // namespace
} // namespace dfc
