#include "ir/plan/memory_traffic.h"

#include <algorithm>
#include <initializer_list>

namespace dfc {
namespace {

double costInBytes(const Graph& graph, OpId op) {
  return costOf(graph[op].attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).bytes;
}

/// Of the devices, the CPU of the smallest stated bandwidth.
DeviceId slowestMemory(std::initializer_list<DeviceId> devices, const Machine& machine) {
  DeviceId slowest;
  for (const DeviceId device : devices) {
    const DeviceRow& row = machine.devices[device];
    if (row.kind == DeviceKind::Cpu && row.memoryBandwidth > 0 &&
        (!slowest.valid() || row.memoryBandwidth < machine.devices[slowest].memoryBandwidth)) {
      slowest = device;
    }
  }
  return slowest;
}

bool isOverLinks(const TransferRow& row, double seconds, const Machine& machine) {
  constexpr double rounding = 1e-6;
  return std::all_of(row.links.begin(), row.links.end(), [&](LinkId link) {
    const double bandwidth = machine.links[link].bandwidth; // 0: no limit
    return bandwidth <= 0 || seconds * bandwidth * (1 + rounding) >= static_cast<double>(row.bytes);
  });
}

} // namespace

MemoryTraffic memoryTraffic(const PlacedGraph& placed, OpId op, double seconds, const Machine& machine) {
  const auto found = placed.transfers.find(op);
  const bool isTransfer = found != placed.transfers.end();
  const DeviceId device = isTransfer ? slowestMemory({found->second.from, found->second.to}, machine)
                                     : slowestMemory({placed.device[op]}, machine);
  if (!device.valid() || !(seconds > 0) || (isTransfer && !isOverLinks(found->second, seconds, machine))) {
    return {};
  }
  const double bytes = isTransfer ? static_cast<double>(found->second.bytes) : costInBytes(placed.graph, op);
  const double share = std::min(1.0, bytes / (seconds * machine.devices[device].memoryBandwidth));
  return share > 0 ? MemoryTraffic{device, share} : MemoryTraffic{};
}

} // namespace dfc
