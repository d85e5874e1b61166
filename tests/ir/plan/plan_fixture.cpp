// The plan, stage by stage:
//
//   cpu0 compute 0   x ......................... v  w.next
//   cpu0 compute 1   t                              (w.next waits for t, which reads the old w)
//   gpu0 copyIn         x@gpu0 ................... v@gpu0
//   gpu0 compute            y  z ...................... w@gpu0.next
//   gpu0 copyOut                  z@cpu0
//
// Every value is f32[256], that is 1024 bytes.
#include "tests/ir/plan/plan_fixture.h"

#include "tests/support/catch.h"

namespace dfc::test {
namespace {

constexpr int64_t valueBytes = 1024;

class PlacedMaker {
 public:
  explicit PlacedMaker(PlacedGraph& placed) : placed_(placed), builder_("by hand") {}

  ValueId add(std::string_view name, DeviceId device, OpAttributes attributes,
              llvm::ArrayRef<ValueId> operands = {}) {
    const OpId op = builder_.append(std::move(attributes), operands, {.name = name});
    REQUIRE(op.valid());
    placed_.device.resize(op.index() + 1);
    placed_.device[op] = device;
    return builder_.result(op);
  }

  ValueId transfer(std::string_view name, const Route& route, ValueId value) {
    const ValueId made = add(name, route.to, ops::Transfer{}, {value});
    placed_.transfers[OpId(made.index())] = {route.from, route.to, route.links,
                                             valueBytes}; // one result an op
    return made;
  }

  GraphBuilder& builder() { return builder_; }

 private:
  PlacedGraph& placed_;
  GraphBuilder builder_;
};

} // namespace

Machine handMachine() {
  Machine machine;
  machine.name = "hand";
  DeviceRow cpu;
  cpu.name = "cpu0";
  cpu.computeQueues = 2;
  cpu.memoryBytes = 4096;
  DeviceRow gpu;
  gpu.name = "gpu0";
  gpu.kind = DeviceKind::Gpu;
  const DeviceId host = machine.devices.add(cpu);
  const DeviceId device = machine.devices.add(gpu);
  const LinkId down = machine.links.add({"down", 0, 1024, 1});
  const LinkId up = machine.links.add({"up", 0, 1024, 1});
  machine.routes = {{host, device, {down}}, {device, host, {up}}};
  return machine;
}

HandPlan::HandPlan() : machine(handMachine()) {
  makeGraph();
  makeSchedule();
  makeMemory();
}

OpId HandPlan::op(std::string_view name) const { return placed.graph[placed.graph.findValue(name)].producer; }

void HandPlan::makeGraph() {
  const DeviceId cpu(0);
  const DeviceId gpu(1);
  const Route& down = machine.routes[0];
  const Route& up = machine.routes[1];
  ops::Input input;
  input.type = f32({256});
  ops::Parameter parameter;
  parameter.type = f32({256});
  PlacedMaker maker(placed);
  const ValueId x = maker.add("x", cpu, input);
  const ValueId w = maker.add("w", cpu, parameter);
  const ValueId wThere = maker.add("w@gpu0", gpu, parameter);
  const ValueId t = maker.add("t", cpu, ops::Exp{}, {w});
  const ValueId xThere = maker.transfer("x@gpu0", down, x);
  const ValueId y = maker.add("y", gpu, ops::Mul{}, {xThere, wThere});
  const ValueId z = maker.add("z", gpu, ops::Relu{}, {y});
  const ValueId zHere = maker.transfer("z@cpu0", up, z);
  const ValueId v = maker.add("v", cpu, ops::Add{}, {w, zHere});
  const ValueId vThere = maker.transfer("v@gpu0", down, v);
  maker.add("w.next", cpu, ops::Assign{}, {w, v});
  maker.add("w@gpu0.next", gpu, ops::Assign{}, {wThere, vThere});
  maker.builder().fetch("z", zHere);
  maker.builder().fetch("t", t);
  Result<Graph> graph = std::move(maker.builder()).finish();
  REQUIRE(graph.ok());
  placed.graph = *std::move(graph);
  placed.replicas[op("w@gpu0")] = op("w");
  placed.orderings = {{op("t"), op("w.next")}, {op("y"), op("w@gpu0.next")}};
}

void HandPlan::makeSchedule() {
  const QueueId main = schedule.queues.add({DeviceId(0), QueueKind::Compute, 0, {}});
  const QueueId side = schedule.queues.add({DeviceId(0), QueueKind::Compute, 1, {}});
  const QueueId in = schedule.queues.add({DeviceId(1), QueueKind::CopyIn, 0, {}});
  const QueueId gpu = schedule.queues.add({DeviceId(1), QueueKind::Compute, 0, {}});
  const QueueId out = schedule.queues.add({DeviceId(1), QueueKind::CopyOut, 0, {}});
  schedule.stepOf.resize(placed.graph.opCount());
  const auto add = [&](std::string_view name, QueueId queue, double start, const char* wait = nullptr) {
    StepRow row{op(name), queue, static_cast<uint32_t>(schedule.queues[queue].steps.size()),
                {},       start, start + 1};
    if (wait != nullptr) {
      row.waits.push_back(schedule.stepOf[op(wait)]);
    }
    const StepId step = schedule.steps.add(row);
    schedule.queues[queue].steps.push_back(step);
    schedule.stepOf[op(name)] = step;
  };
  add("x", main, 0);
  add("t", side, 0);
  add("x@gpu0", in, 1, "x");
  add("y", gpu, 2, "x@gpu0");
  add("z", gpu, 3);
  add("z@cpu0", out, 4, "z");
  add("v", main, 5, "z@cpu0");
  add("v@gpu0", in, 6, "v");
  add("w.next", main, 6, "t");
  add("w@gpu0.next", gpu, 7, "v@gpu0");
  schedule.makespan = 8;
  // The longest chain is x, x@gpu0, y, z, z@cpu0, v, v@gpu0, w@gpu0.next, of 1 s each. So gpu0, which
  // computes y with 3 s before it and 5 s behind, is done after 8 s at the soonest, and the link down, which
  // brings x@gpu0 with 1 s before it and 6 s behind, too.
  schedule.bounds = {8, 8, 8};
  schedule.steady = {7, 7}; // without x, which is staged before its step
}

void HandPlan::makeMemory() {
  memory.slots.resize(placed.graph.valueCount());
  const auto put = [&](std::string_view name, uint32_t device, int64_t offset) {
    slot(name) = {DeviceId(device), offset, valueBytes};
  };
  put("w", 0, 0);
  put("w.next", 0, 0);
  put("x", 0, 1024);
  put("z@cpu0", 0, 1024); // x is dead: z follows from it
  put("t", 0, 2048);
  put("v", 0, 3072);
  put("w@gpu0", 1, 0);
  put("w@gpu0.next", 1, 0);
  put("x@gpu0", 1, 1024);
  put("v@gpu0", 1, 1024); // x@gpu0 is dead: v follows from it
  put("y", 1, 2048);
  put("z", 1, 2048); // in place
  for (auto* table : {&memory.arenaBytes, &memory.residentBytes, &memory.lowerBound}) {
    table->resize(2);
  }
  memory.arenaBytes[DeviceId(0)] = 4096;
  memory.arenaBytes[DeviceId(1)] = 3072;
  memory.residentBytes[DeviceId(0)] = memory.residentBytes[DeviceId(1)] = 1024;
  memory.lowerBound[DeviceId(0)] = 4096;
  memory.lowerBound[DeviceId(1)] = 3072;
}

} // namespace dfc::test
