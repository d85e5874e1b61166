// Policy `heft`: HEFT over the cost model, with a guard: a plan over many devices is kept only where the
// scheduler, which models the links that HEFT does not, predicts it to be faster than the best single device,
// and by more than predictions miss. Copies cost memory and a plan's devices wait for one another, so a gain
// that may be none is no gain.
#include "compiler/place/makespan_bound.h"
#include "compiler/place/place.h"
#include "compiler/place/task_graph_of.h"
#include "compiler/tasks/heft.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

constexpr double worthwhile = 0.9; // of the predicted makespan on one device

Placement byHeft(const PlacementProblem& problem) {
  const TensorTasks tasks = taskGraphOf(problem.graph, problem.machine, problem.cost, problem.pins);
  const TaskSchedule schedule = heft(tasks.graph);
  Placement placement{problem.graph,
                      SideTable<OpId, DeviceId>(problem.graph.opCount(), problem.machine.host()), "heft"};
  for (const OpId op : problem.graph.ops()) {
    if (tasks.taskOf[op].valid()) {
      placement.device[op] = DeviceId(schedule.tasks[tasks.taskOf[op]].device);
    } else if (problem.pins[op].valid()) {
      placement.device[op] = problem.pins[op];
    }
  }
  return placement;
}

// Constants and parameters that no step assigns are no tasks. They are placed where their first reader runs,
// unless pinned.
void settleResidents(Placement& placement, const PlacementProblem& problem) {
  SideTable<OpId, bool> settled(problem.graph.opCount());
  for (const OpId op : problem.graph.ops()) {
    for (const ValueId operand : problem.graph[op].operands) {
      const OpId producer = problem.graph[operand].producer;
      if (isResident(problem.graph[producer].kind()) && !settled[producer]) {
        settled[producer] = true;
        placement.device[producer] =
            problem.pins[producer].valid() ? problem.pins[producer] : placement.device[op];
      }
    }
  }
}

// An assigned parameter lives where its assign writes.
void joinAssigns(Placement& placement) {
  for (const OpId op : placement.graph.opsOf(OpKind::Assign)) {
    placement.device[placement.graph[placement.graph[op].operands[0]].producer] = placement.device[op];
  }
}

// Whether parameters and constants alone do not exceed a device's memory.
bool holdsResidents(const Placement& placement, const Machine& machine) {
  SideTable<DeviceId, int64_t> bytes(machine.devices.size(), 0);
  for (const OpId op : placement.graph.ops()) {
    if (isResident(placement.graph[op].kind())) {
      bytes[placement.device[op]] += placement.graph.typeOf(placement.graph[op].firstResult).bytes();
    }
  }
  return llvm::all_of(machine.devices.ids(), [&](DeviceId device) {
    const int64_t capacity = machine.devices[device].memoryBytes;
    return capacity == 0 || bytes[device] <= capacity;
  });
}

} // namespace

Placement placeByHeft(const PlacementProblem& problem) {
  Placement spread = byHeft(problem);
  settleResidents(spread, problem);
  joinAssigns(spread);
  std::vector<Placement> singles = oneDeviceEach(problem);
  llvm::erase_if(singles, [&](const Placement& one) { return !holdsResidents(one, problem.machine); });
  if (singles.empty()) {
    return spread;
  }
  Placement single = fastest(std::move(singles), problem);
  if (sameDevices(spread, single)) {
    return spread;
  }
  if (!holdsResidents(spread, problem.machine)) {
    return single;
  }
  const double most = worthwhile * predictedMakespan(single, problem);
  const double least = makespanBound(spread, problem);
  return least < most && predictedMakespan(spread, problem, least) < most ? spread : single;
}

} // namespace dfc
