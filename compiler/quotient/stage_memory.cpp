#include "compiler/quotient/stage_memory.h"

#include "compiler/place/memory_demand.h"

namespace dfc {

StageMemory stageMemory(const Placement& placement, const InFlight& inFlight,
                        const std::vector<DeviceId>& devices, const Machine& machine) {
  const MemoryDemand demand = memoryDemand(placement, machine); // of micro-batches one after the other
  const SideTable<DeviceId, double> kept = keptBytes(placement, inFlight);
  StageMemory memory;
  for (const DeviceId device : devices) {
    memory.state.push_back(demand.state[device]);
    memory.all.push_back(demand.likely[device] + (inFlight.count[device] - 1) * kept[device]);
  }
  return memory;
}

} // namespace dfc
