#include "ir/plan/peer_reads.h"

#include "ir/plan/feeds.h"

namespace dfc {
namespace {

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

bool readsPeer(const Machine& machine, DeviceId reader, DeviceId owner) {
  return machine.devices[reader].kind == DeviceKind::Gpu && machine.devices[owner].kind == DeviceKind::Gpu &&
         machine.directRoute(reader, owner) != nullptr && machine.directRoute(owner, reader) != nullptr;
}

SideTable<OpId, OpId> smallPeerReads(const PlacedGraph& placed, const Machine& machine) {
  const Graph& graph = placed.graph;
  SideTable<OpId, OpId> read(graph.opCount());
  const SideTable<ValueId, OpId> readers = onlyReaders(graph);
  SideTable<OpId, bool> ordered(graph.opCount(), false);
  for (const Ordering& ordering : placed.orderings) {
    ordered[ordering.before] = true;
  }
  for (const auto& [op, row] : placed.transfers) {
    const ValueId sent = graph[op].firstResult;
    const OpId reader = readers[sent];
    if (reader.valid() && !ordered[op] && row.bytes > 0 && row.bytes <= smallPeerRead &&
        isElementwise(graph[reader]) &&
        graph.typeOf(sent).shape == graph.typeOf(graph[reader].firstResult).shape &&
        !isFed(graph, graph[op].operands[0]) && readsPeer(machine, row.to, row.from)) {
      read[op] = reader;
    }
  }
  return read;
}

} // namespace dfc
