// The obvious plan: nothing here is clever, so that a failing test points at the runtime.
#include "tests/support/tiny_plan.h"

#include "compiler/lower/lower.h"
#include "ir/plan/in_place.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::test {
namespace {

void connect(Machine& machine, DeviceId a, DeviceId b) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    const LinkId link = machine.links.add(
        {fmt::format("{}-{}", machine.devices[from].name, machine.devices[to].name), 1e-6, 1e10, 1});
    machine.routes.push_back({from, to, {link}});
  }
}

class Placer {
 public:
  Placer(const Graph& graph, const Machine& machine)
      : old_(graph), machine_(machine), builder_(graph.name()) {}

  PlacedGraph run(bool fetchWhereMade) {
    for (const OpId op : old_.ops()) {
      if (old_[op].kind() == OpKind::Assign) {
        stateOf_[old_[op].operands[0].index()] = true;
      }
    }
    for (const OpId op : old_.ops()) {
      old_[op].kind() == OpKind::Assign ? forward(op) : copy(op);
    }
    for (const Fetch& fetch : old_.fetches()) {
      const DeviceId own = home_[resolved(fetch.value).index()];
      builder_.fetch(old_.text(fetch.name), lasting(fetch.value, fetchWhereMade ? own : machine_.host()));
    }
    assignLast();
    Result<Graph> graph = std::move(builder_).finish();
    DFC_ASSERT(graph.ok(), render(graph.errors()));
    placed_.graph = *std::move(graph);
    orderReaders();
    return std::move(placed_);
  }

 private:
  DeviceId deviceOf(OpId op) const {
    const DeviceId pinned = machine_.findDevice(old_.pinOf(op));
    const bool free = pinned.valid() && old_[op].kind() != OpKind::Input; // inputs arrive on the host
    return free ? pinned : machine_.host();
  }

  void copy(OpId op) {
    const OpRow& row = old_[op];
    const DeviceId device = deviceOf(op);
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : row.operands) {
      operands.push_back(valueOn(operand, device));
    }
    const OpId made = append(row.attributes, operands, std::string(old_.nameOf(op)), device,
                             {.scope = old_.scopeOf(op), .where = old_.locationOf(op)});
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      places_[{row.firstResult.index() + i, device.index()}] = builder_.result(made, i);
      home_[row.firstResult.index() + i] = device;
    }
  }

  // Who reads an assign's result reads the value that was assigned.
  void forward(OpId assign) {
    forwarded_[old_[assign].firstResult.index()] = resolved(old_[assign].operands[1]);
  }

  ValueId resolved(ValueId value) const {
    const auto found = forwarded_.find(value.index());
    return found == forwarded_.end() ? value : found->second;
  }

  // All values of assigns before the first assign, so that parameters may change places.
  void assignLast() {
    std::vector<std::pair<OpId, ValueId>> values;
    for (const OpId op : old_.ops()) {
      if (old_[op].kind() == OpKind::Assign) {
        values.emplace_back(op, lasting(old_[op].operands[1], home_[old_[op].operands[0].index()]));
      }
    }
    for (const auto& [op, value] : values) {
      const ValueId parameter = old_[op].operands[0];
      const DeviceId device = home_[parameter.index()];
      append(ops::Assign{}, {valueOn(parameter, device), value}, std::string(old_.nameOf(op)), device);
    }
  }

  // A copy where the value is old state, which the step overwrites.
  ValueId lasting(ValueId value, DeviceId device) {
    const ValueId here = valueOn(value, device);
    ValueId root = resolved(value);
    while (classOf(old_[old_[root].producer].kind()) == OpClass::View) {
      root = resolved(old_[old_[root].producer].operands[0]);
    }
    if (!stateOf_[root.index()]) {
      return here;
    }
    ops::Broadcast copy;
    const auto dims = old_.typeOf(value).shape.dims();
    copy.shape.assign(dims.begin(), dims.end());
    return builder_.result(
        append(std::move(copy), {here}, fmt::format("{}.old", old_.nameOf(value)), device));
  }

  ValueId valueOn(ValueId wanted, DeviceId device) {
    const ValueId value = resolved(wanted);
    ValueId& there = places_[{value.index(), device.index()}];
    if (!there.valid()) {
      const DeviceId from = home_[value.index()];
      const Route* route = machine_.directRoute(from, device);
      DFC_ASSERT(route != nullptr, "a small machine has every route");
      const ValueId source = places_[{value.index(), from.index()}];
      const OpId transfer =
          append(ops::Transfer{}, {source},
                 fmt::format("{}@{}", old_.nameOf(value), machine_.devices[device].name), device);
      placed_.transfers[transfer] = {from, device, route->links, old_.typeOf(value).bytes()};
      there = builder_.result(transfer);
    }
    return there;
  }

  OpId append(OpAttributes attributes, llvm::ArrayRef<ValueId> operands, const std::string& name,
              DeviceId device, Provenance provenance = {}) {
    provenance.name = name;
    const OpId op = builder_.append(std::move(attributes), operands, provenance);
    DFC_ASSERT(op.valid(), render(builder_.errors()));
    placed_.device.resize(op.index() + 1);
    placed_.device[op] = device;
    return op;
  }

  // Every reader of a parameter, or of a view of it, before the assign.
  void orderReaders() {
    const Graph& graph = placed_.graph;
    SideTable<ValueId, ValueId> root(graph.valueCount());
    for (const OpId op : graph.ops()) {
      for (const ValueId result : graph[op].results()) {
        root[result] = classOf(graph[op].kind()) == OpClass::View ? root[graph[op].operands[0]] : result;
      }
    }
    for (const OpId assign : graph.ops()) {
      if (graph[assign].kind() != OpKind::Assign) {
        continue;
      }
      for (const OpId reader : graph.ops()) {
        if (reader != assign && llvm::any_of(graph[reader].operands, [&](ValueId operand) {
              return root[operand] == graph[assign].operands[0];
            })) {
          placed_.orderings.push_back({reader, assign});
        }
      }
    }
  }

  const Graph& old_;
  const Machine& machine_;
  GraphBuilder builder_;
  PlacedGraph placed_;
  std::map<std::pair<uint32_t, uint32_t>, ValueId> places_; // (old value, device)
  std::map<uint32_t, DeviceId> home_;                       // old value -> where it is made
  std::map<uint32_t, ValueId> forwarded_;                   // result of an assign -> its value
  std::map<uint32_t, bool> stateOf_;                        // parameters that have an assign
};

Table<QueueId, QueueRow> queuesOf(const Machine& machine) {
  Table<QueueId, QueueRow> queues;
  for (const DeviceId device : machine.devices.ids()) {
    for (uint32_t i = 0; i < machine.devices[device].computeQueues; ++i) {
      queues.add({device, QueueKind::Compute, i, {}});
    }
    if (machine.devices[device].kind == DeviceKind::Gpu) {
      for (const QueueKind kind : {QueueKind::CopyIn, QueueKind::CopyOut, QueueKind::Peer}) {
        queues.add({device, kind, 0, {}});
      }
    }
  }
  return queues;
}

QueueId findQueue(const Schedule& schedule, DeviceId device, QueueKind kind, uint32_t index) {
  for (const QueueId queue : schedule.queues.ids()) {
    const QueueRow& row = schedule.queues[queue];
    if (row.device == device && row.kind == kind && row.index == index) {
      return queue;
    }
  }
  DFC_UNREACHABLE("a small machine has every queue");
}

class Scheduler {
 public:
  Scheduler(const PlacedGraph& placed, const Machine& machine) : placed_(placed), machine_(machine) {}

  Schedule run() {
    schedule_.queues = queuesOf(machine_);
    schedule_.stepOf = SideTable<OpId, StepId>(placed_.graph.opCount());
    for (const OpId op : placed_.graph.ops()) {
      if (!placed_.isResident(op)) {
        addStep(op);
      }
    }
    schedule_.makespan = static_cast<double>(schedule_.steps.size());
    schedule_.steady.seconds = schedule_.makespan;
    return std::move(schedule_);
  }

 private:
  void addStep(OpId op) {
    StepRow step;
    step.op = op;
    step.queue = queueOf(op);
    step.position = static_cast<uint32_t>(schedule_.queues[step.queue].steps.size());
    step.start = static_cast<double>(schedule_.steps.size());
    step.end = step.start + 1;
    for (const ValueId operand : placed_.graph[op].operands) {
      addWait(step, placed_.graph[operand].producer);
    }
    for (const Ordering& ordering : placed_.orderings) {
      if (ordering.after == op) {
        addWait(step, ordering.before);
      }
    }
    const QueueId queue = step.queue;
    schedule_.stepOf[op] = schedule_.steps.add(std::move(step));
    schedule_.queues[queue].steps.push_back(schedule_.stepOf[op]);
  }

  // At most one wait a queue: the latest.
  void addWait(StepRow& step, OpId before) {
    const StepId other = schedule_.stepOf[before];
    if (!other.valid() || schedule_.steps[other].queue == step.queue) {
      return;
    }
    for (StepId& wait : step.waits) {
      if (schedule_.steps[wait].queue == schedule_.steps[other].queue) {
        wait = std::max(wait, other);
        return;
      }
    }
    step.waits.push_back(other);
  }

  QueueId queueOf(OpId op) {
    const auto found = placed_.transfers.find(op);
    if (found == placed_.transfers.end()) {
      const DeviceId device = placed_.device[op];
      const uint32_t turn = turns_[device]++ % machine_.devices[device].computeQueues;
      return findQueue(schedule_, device, QueueKind::Compute, turn);
    }
    const auto [from, to] = std::pair(found->second.from, found->second.to);
    const bool fromGpu = machine_.devices[from].kind == DeviceKind::Gpu;
    const bool toGpu = machine_.devices[to].kind == DeviceKind::Gpu;
    const QueueKind kind = fromGpu && toGpu ? QueueKind::Peer
                           : toGpu          ? QueueKind::CopyIn
                                            : QueueKind::CopyOut;
    return findQueue(schedule_, fromGpu ? from : to, kind, 0);
  }

  const PlacedGraph& placed_;
  const Machine& machine_;
  Schedule schedule_;
  std::map<DeviceId, uint32_t> turns_;
};

} // namespace

void connectAll(Machine& machine, double latency, double bandwidth) {
  for (const DeviceId from : machine.devices.ids()) {
    for (const DeviceId to : machine.devices.ids()) {
      if (from != to) {
        const LinkId link = machine.links.add(
            {machine.devices[from].name + ">" + machine.devices[to].name, latency, bandwidth, 1});
        machine.routes.push_back({from, to, {link}});
      }
    }
  }
}

Machine smallMachine(uint32_t gpus, uint32_t cpuQueues, uint32_t gpuQueues) {
  Machine machine;
  machine.name = fmt::format("cpu-{}gpu", gpus);
  DeviceRow row;
  row.peakFlops.fill(1e9);
  row.memoryBandwidth = 1e10;
  row.name = "cpu0";
  row.computeQueues = cpuQueues;
  machine.devices.add(row);
  row.kind = DeviceKind::Gpu;
  row.computeQueues = gpuQueues;
  for (uint32_t i = 0; i < gpus; ++i) {
    row.name = fmt::format("gpu{}", i);
    const DeviceId gpu = machine.devices.add(row);
    for (const DeviceId other : machine.devices.ids()) {
      if (other != gpu) {
        connect(machine, other, gpu);
      }
    }
  }
  return machine;
}

PlacedGraph placeByPins(const Graph& graph, const Machine& machine, bool fetchWhereMade) {
  return Placer(graph, machine).run(fetchWhereMade);
}

Schedule plainSchedule(const PlacedGraph& placed, const Machine& machine) {
  return Scheduler(placed, machine).run();
}

MemoryPlan plainMemory(const PlacedGraph& placed, const Machine& machine) {
  const Graph& graph = placed.graph;
  const size_t devices = machine.devices.size();
  MemoryPlan plan;
  plan.slots = SideTable<ValueId, Slot>(graph.valueCount());
  plan.arenaBytes = plan.residentBytes = plan.lowerBound = SideTable<DeviceId, int64_t>(devices, 0);
  for (const bool resident : {true, false}) {
    for (const OpId op : graph.ops()) {
      for (const ValueId value : graph[op].results()) {
        const DeviceId device = placed.device[op];
        const auto shared = sharesStorageWith(graph[op]);
        if (placed.isResident(op) != resident) {
          continue;
        }
        if (shared) {
          plan.slots[value] = plan.slots[graph[op].operands[*shared]];
          plan.slots[value].offset += viewOffset(graph, graph[op]);
          plan.slots[value].bytes = graph.typeOf(value).bytes();
          continue;
        }
        const int64_t bytes = graph.typeOf(value).bytes();
        plan.slots[value] = {device, plan.arenaBytes[device], bytes};
        plan.arenaBytes[device] += alignUp(bytes);
      }
    }
    if (resident) {
      plan.residentBytes = plan.arenaBytes;
    }
  }
  return plan;
}

std::shared_ptr<const Executable> tinyPlan(const Graph& graph, const Machine& machine, bool fetchWhereMade) {
  PlacedGraph placed = placeByPins(graph, machine, fetchWhereMade);
  Schedule schedule = plainSchedule(placed, machine);
  MemoryPlan memory = plainMemory(placed, machine);
  Result<LaunchPlan> launches = lower({placed, schedule, memory, machine});
  DFC_ASSERT(launches.ok(), render(launches.errors()));
  Result<Executable> sealed = Executable::seal(std::move(placed), std::move(schedule), std::move(memory),
                                               *std::move(launches), machine, "by hand");
  DFC_ASSERT(sealed.ok(), render(sealed.errors()));
  return std::make_shared<const Executable>(*std::move(sealed));
}

} // namespace dfc::test
