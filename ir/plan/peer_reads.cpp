#include "ir/plan/peer_reads.h"

#include "ir/plan/feeds.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool isElementwise(const OpRow& row) {
  const auto* fused = row.getIf<ops::Fused>();
  return fused != nullptr ? fused->reduction == ops::Fused::Reduction::None
                          : classOf(row.kind()) == OpClass::Elementwise;
}

/// The one op that uses each value; invalid where none or several do, or where the value is fetched.
SideTable<ValueId, OpId> onlyReaders(const Graph& graph) {
  SideTable<ValueId, OpId> reader(graph.valueCount());
  SideTable<ValueId, uint32_t> uses(graph.valueCount());
  for (const OpId op : graph.ops()) {
    for (const ValueId operand : graph[op].operands) {
      reader[operand] = ++uses[operand] == 1 ? op : OpId();
    }
  }
  for (const Fetch& fetch : graph.fetches()) {
    reader[fetch.value] = OpId();
  }
  return reader;
}

} // namespace

PeerAccess::PeerAccess(const Machine& machine)
    : devices_(machine.devices.size()), near_(devices_ * devices_, false) {
  constexpr double muchSlower = 1.5; // than the route to the nearest GPU
  constexpr int64_t typicalBytes = 1 << 20;
  std::vector<double> nearest(devices_, never);
  std::vector<const Route*> between;
  for (const Route& route : machine.routes) {
    if (machine.devices[route.from].kind == DeviceKind::Gpu &&
        machine.devices[route.to].kind == DeviceKind::Gpu) {
      double& least = nearest[route.from.index()];
      least = std::min(least, machine.seconds(route, typicalBytes));
      between.push_back(&route);
    }
  }
  for (const Route* route : between) {
    near_[route->from.index() * devices_ + route->to.index()] =
        machine.seconds(*route, typicalBytes) <= muchSlower * nearest[route->from.index()];
  }
}

SideTable<OpId, OpId> smallPeerReads(const PlacedGraph& placed, const Machine& machine) {
  const Graph& graph = placed.graph;
  SideTable<OpId, OpId> read(graph.opCount());
  const SideTable<ValueId, OpId> readers = onlyReaders(graph);
  SideTable<OpId, bool> ordered(graph.opCount(), false);
  for (const Ordering& ordering : placed.orderings) {
    ordered[ordering.before] = true;
  }
  const PeerAccess peers(machine);
  for (const auto& [op, row] : placed.transfers) {
    const ValueId sent = graph[op].firstResult;
    const OpId reader = readers[sent];
    if (reader.valid() && !ordered[op] && row.bytes > 0 && row.bytes <= smallPeerRead &&
        isElementwise(graph[reader]) &&
        graph.typeOf(sent).shape == graph.typeOf(graph[reader].firstResult).shape &&
        !isFed(graph, graph[op].operands[0]) && peers.reaches(row.to, row.from)) {
      read[op] = reader;
    }
  }
  return read;
}

} // namespace dfc
