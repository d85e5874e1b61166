// One pass over the values; a device's sum stops growing where it is too large.
#include "compiler/memory/addressable.h"

#include "ir/author/text/units.h"
#include "ir/plan/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {

Diagnostics checkAddressable(const PlacedGraph& placed, const Machine& machine) {
  SideTable<DeviceId, int64_t> left(machine.devices.size(), mostBytesOfDevice);
  SideTable<DeviceId, ValueId> largest(machine.devices.size());
  const Graph& graph = placed.graph;
  const auto bytesOf = [&](ValueId value) { return graph.typeOf(value).bytes(); };
  for (const ValueId value : graph.values()) {
    const DeviceId device = placed.device[graph[value].producer];
    left[device] = std::max<int64_t>(-1, left[device] - std::min(bytesOf(value), mostBytesOfDevice + 1) -
                                             arenaAlignment);
    if (!largest[device].valid() || bytesOf(largest[device]) < bytesOf(value)) {
      largest[device] = value;
    }
  }
  Diagnostics errors;
  for (const DeviceId device : machine.devices.ids()) {
    if (left[device] < 0) {
      errors.push_back(
          errorWithoutPlace(fmt::format("the values on {} have more than {} together",
                                        machine.devices[device].name, humanBytes(mostBytesOfDevice)),
                            fmt::format("the largest is '{}': {}", graph.nameOf(largest[device]),
                                        toString(graph.typeOf(largest[device])))));
    }
  }
  return errors;
}

} // namespace dfc
