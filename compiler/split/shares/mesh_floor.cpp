#include "compiler/split/shares/mesh_floor.h"

#include "compiler/split/mesh.h"
#include "compiler/split/shares/shares.h"

#include <algorithm>
#include <limits>

namespace dfc {

MeshFloor::MeshFloor(const Graph& fused, const Machine& machine, const CostModel& cost)
    : alone_(machine.devices.size(), 0) {
  for (const std::vector<DeviceId>& one : deviceClasses(machine)) {
    const DeviceWork work = workOn(fused, machine, cost, one.front());
    for (const DeviceId device : one) {
      const double queues = machine.devices[device].computeQueues;
      alone_[device] = std::max(work.divisible, work.whole() / queues);
    }
  }
}

double MeshFloor::seconds(llvm::ArrayRef<DeviceId> devices) const {
  double rate = 0;
  for (const DeviceId device : devices) {
    if (alone_[device] == 0) {
      return 0;
    }
    rate += 1 / alone_[device];
  }
  return rate > 0 ? 1 / rate : std::numeric_limits<double>::infinity();
}

} // namespace dfc
