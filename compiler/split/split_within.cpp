#include "compiler/split/split_within.h"

#include "compiler/split/expand_split.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {

Rows rowsOf(const Graph& graph, const std::vector<std::vector<DeviceId>>& groups, const Machine& machine) {
  Rows rows{groups, SideTable<OpId, uint32_t>(graph.opCount(), 0)};
  SideTable<DeviceId, uint32_t> rowOf(machine.devices.size(), 0);
  SideTable<DeviceId, bool> known(machine.devices.size(), false);
  for (uint32_t row = 0; row < groups.size(); ++row) {
    rowOf[groups[row].front()] = row;
    known[groups[row].front()] = true;
  }
  for (const OpId op : graph.ops()) {
    const DeviceId device = machine.findDevice(graph.pinOf(op));
    DFC_ASSERT(device.valid(), "an op of a split graph without a device");
    if (!known[device]) {
      rowOf[device] = static_cast<uint32_t>(rows.devices.size());
      known[device] = true;
      rows.devices.emplace_back(groups.front().size(), device);
    }
    rows.of[op] = rowOf[device];
  }
  return rows;
}

Rows linked(Rows rows, const Machine& machine, const CostModel& cost) {
  std::vector<DeviceId> heads;
  for (size_t row = 0; row < rows.devices.size(); ++row) {
    const bool isHost = rows.isOneDevice(row) && rows.devices[row].front() == machine.host();
    if (!isHost) {
      heads.push_back(rows.devices[row].front());
    }
  }
  if (heads.size() < 2) {
    return rows;
  }
  const LinkRate there = rateTo(heads, machine, cost);
  std::reverse(heads.begin(), heads.end());
  const LinkRate back = rateTo(heads, machine, cost);
  const bool isSlower = back.bandwidth > 0 && (there.bandwidth == 0 || back.bandwidth < there.bandwidth);
  rows.bandwidth = isSlower ? back.bandwidth : there.bandwidth;
  rows.latencySeconds = std::max(there.latencySeconds, back.latencySeconds);
  return rows;
}

std::optional<SplitGraph> splitWithin(SplitGraph outer, const std::vector<std::vector<DeviceId>>& groups,
                                      const Mesh& mesh, const Machine& machine, const CostModel& cost,
                                      const SplitPrices& prices) {
  const Graph& graph = outer.graph;
  Rows rows = linked(rowsOf(graph, groups, machine), machine, cost);
  SplitPlan plan = SplitChoices(graph, mesh, std::move(rows), machine, cost).choose(prices);
  if (!std::isfinite(plan.seconds)) {
    return std::nullopt;
  }
  SplitGraph made{{}, std::move(plan), "", graph};
  made.grid = {outer.grid.stages, outer.grid.groups, mesh.size()};
  made.graph = expandSplit(graph, made.plan, machine, &made.movements);
  made.outer = std::make_shared<const SplitGraph>(std::move(outer));
  return made;
}

} // namespace dfc
