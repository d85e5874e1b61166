// Policy `pins`: the author decides. An op without a pin runs where the largest of its operands was made, so
// that a chain stays together; one without operands runs where its first reader is pinned, else on the host.
#include "compiler/place/place.h"
#include "ir/plan/placed_graph.h"

namespace dfc {
namespace {

DeviceId deviceOfLargestOperand(const Graph& graph, const OpRow& row, const SideTable<OpId, DeviceId>& device,
                                DeviceId host) {
  DeviceId best = host;
  int64_t most = -1;
  for (const ValueId operand : row.operands) {
    const OpId producer = graph[operand].producer;
    const int64_t bytes = graph.typeOf(operand).bytes();
    if (graph[producer].kind() != OpKind::Constant && bytes > most) {
      most = bytes;
      best = device[producer];
    }
  }
  return best;
}

SideTable<OpId, DeviceId> firstPinnedReader(const PlacementProblem& problem) {
  SideTable<OpId, DeviceId> wish(problem.graph.opCount());
  for (const OpId op : problem.graph.ops()) {
    for (const ValueId operand : problem.graph[op].operands) {
      DeviceId& of = wish[problem.graph[operand].producer];
      of = of.valid() ? of : problem.pins[op];
    }
  }
  return wish;
}

} // namespace

Placement placeByPins(const PlacementProblem& problem) {
  const Graph& graph = problem.graph;
  const DeviceId host = problem.machine.host();
  Placement placement{graph, SideTable<OpId, DeviceId>(graph.opCount(), host), "pins"};
  const auto wish = firstPinnedReader(problem);
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    DeviceId& device = placement.device[op];
    if (problem.pins[op].valid()) {
      device = problem.pins[op];
    } else if (row.kind() == OpKind::Assign) {
      device = placement.device[graph[row.operands[0]].producer];
    } else if (isResident(row.kind())) {
      device = wish[op].valid() ? wish[op] : host;
    } else if (row.kind() != OpKind::Input) {
      device = deviceOfLargestOperand(graph, row, placement.device, host);
    }
  }
  return placement;
}

} // namespace dfc
