#include "compiler/rematerialise/in_flight.h"

#include "ir/graph/micro_batch.h"
#include "ir/plan/in_place.h"
#include "ir/plan/memory_plan.h"
#include "ir/plan/placed_graph.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dfc {
namespace {

// The value whose bytes a value lies in: of a view, its source.
ValueId sourceOf(const Graph& graph, ValueId value) {
  while (const auto shared = sharesStorageWith(graph[graph[value].producer])) {
    value = graph[graph[value].producer].operands[*shared];
  }
  return value;
}

} // namespace

SideTable<OpId, uint32_t> latestStages(const Placement& placement, const InFlight& inFlight) {
  const Graph& graph = placement.graph;
  SideTable<OpId, uint32_t> latest(graph.opCount(), 0);
  SideTable<OpId, std::optional<uint32_t>> batch(graph.opCount());
  for (const OpId op : graph.ops()) {
    batch[op] = microBatchOf(graph.scopeOf(op));
    if (!batch[op]) {
      continue;
    }
    const uint32_t own = inFlight.stage[placement.device[op]];
    latest[op] = own == InFlight::noStage ? 0 : own;
    for (const ValueId operand : graph[op].operands) {
      const OpId producer = graph[operand].producer;
      if (batch[producer] == batch[op]) {
        latest[op] = std::max(latest[op], latest[producer]);
      }
    }
  }
  return latest;
}

SideTable<DeviceId, double> keptBytes(const Placement& placement, const InFlight& inFlight) {
  const Graph& graph = placement.graph;
  const SideTable<OpId, uint32_t> latest = latestStages(placement, inFlight);
  SideTable<DeviceId, double> bytes(inFlight.stage.size(), 0);
  std::set<std::pair<uint32_t, uint32_t>> counted; // values and devices
  for (const OpId reader : graph.ops()) {
    const DeviceId device = placement.device[reader];
    const uint32_t stage = inFlight.stage[device];
    // All micro-batches keep the same.
    if (microBatchOf(graph.scopeOf(reader)) != 0U || stage == InFlight::noStage || latest[reader] <= stage) {
      continue;
    }
    for (const ValueId operand : graph[reader].operands) {
      const ValueId value = sourceOf(graph, operand);
      const OpId producer = graph[value].producer;
      if (microBatchOf(graph.scopeOf(producer)) == 0U && latest[producer] <= stage &&
          !isResident(graph[producer].kind()) && counted.insert({value.index(), device.index()}).second) {
        bytes[device] += static_cast<double>(graph.typeOf(value).bytes());
      }
    }
  }
  return bytes;
}

} // namespace dfc
