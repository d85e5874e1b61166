#include "compiler/place/ahead_of_one_device.h"

#include "compiler/place/makespan_bound.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

constexpr double worthwhile = 0.9; // of the predicted makespan on one device

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

Placement aheadOfOneDevice(Placement spread, const PlacementProblem& problem) {
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

std::vector<DeviceId> allDevices(const Machine& machine) {
  const auto ids = machine.devices.ids();
  return {ids.begin(), ids.end()};
}

} // namespace dfc
