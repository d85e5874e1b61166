#include "compiler/place/cheap_ops.h"

#include "ir/plan/placed_graph.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>

namespace dfc {
namespace {

constexpr int64_t mostTinyBytes = 64;

bool isTiny(const Graph& graph, ValueId value) { return graph.typeOf(value).bytes() <= mostTinyBytes; }

/// The least time in which `bytes` pass between a device and the host, or between the host and the next
/// device: what is cheap does not depend on devices that are added later.
double leastCopySeconds(const Machine& machine, const CostModel& cost, DeviceId device, int64_t bytes) {
  const DeviceId host = machine.host();
  const DeviceId other = device != host ? host : DeviceId(host.index() == 0 ? 1 : 0);
  double least = std::numeric_limits<double>::infinity();
  for (const Route& route : machine.routes) {
    if ((route.from == device && route.to == other) || (route.to == device && route.from == other)) {
      least = std::min(least, cost.transferSeconds(machine, route, bytes));
    }
  }
  return least;
}

bool mayBeCheap(OpKind kind) {
  const OpClass opClass = classOf(kind);
  return opClass == OpClass::Elementwise || opClass == OpClass::View || kind == OpKind::Fused ||
         kind == OpKind::Iota || kind == OpKind::Broadcast;
}

} // namespace

CheapOps::CheapOps(const PlacementProblem& problem)
    : problem_(problem), graph_(problem.graph), devices_(problem.machine.devices.size()),
      cheap_(graph_.opCount() * devices_), isCandidate_(graph_.opCount()), readers_(graph_.opCount()),
      assignOf_(graph_.opCount()) {
  for (const OpId op : graph_.ops()) {
    findCheap(op);
  }
  for (const OpId op : graph_.ops()) {
    for (const ValueId operand : graph_[op].operands) {
      const OpId producer = graph_[operand].producer;
      if (isCandidate_[producer] && !llvm::is_contained(readers_[producer], op)) {
        readers_[producer].push_back(op);
      }
    }
  }
  for (const OpId op : graph_.opsOf(OpKind::Assign)) {
    if (isTiny(graph_, graph_[op].operands[1])) {
      assignOf_[graph_[graph_[op].operands[0]].producer] = op;
    }
  }
}

// All its operands have to be resident or cheap, so that nothing is copied for it.
void CheapOps::findCheap(OpId op) {
  const OpRow& row = graph_[op];
  if (!mayBeCheap(row.kind()) || !llvm::all_of(row.results(), [&](ValueId v) { return isTiny(graph_, v); }) ||
      !llvm::all_of(row.operands, [&](ValueId v) { return isTiny(graph_, v); })) {
    return;
  }
  bool anywhere = false;
  for (const DeviceId device : problem_.machine.devices.ids()) {
    const bool local = llvm::all_of(row.operands, [&](ValueId operand) {
      const OpId producer = graph_[operand].producer;
      return isResident(graph_[producer].kind()) || isCheapOn(device, producer);
    });
    const bool cheap = local && problem_.cost.opSeconds(graph_, op, problem_.machine, device) <=
                                    leastCopySeconds(problem_.machine, problem_.cost, device,
                                                     graph_.typeOf(row.firstResult).bytes());
    cheap_[op.index() * devices_ + device.index()] = cheap;
    anywhere |= cheap;
  }
  if (anywhere) {
    candidates_.push_back(op);
    isCandidate_[op] = true;
  }
}

void CheapOps::settle(Placement& placement) const {
  if (candidates_.empty()) {
    return;
  }
  gather(placement);
  placement.recomputed = SideTable<OpId, bool>(graph_.opCount(), false);
  for (const OpId op : candidates_) {
    placement.recomputed[op] = !problem_.pins[op].valid() && isCheapOn(placement.device[op], op);
  }
}

// Readers first. An assign of a tiny parameter follows its value, and the parameter its assign.
void CheapOps::gather(Placement& placement) const {
  for (const OpId op : llvm::reverse(candidates_)) {
    const DeviceId device = deviceOfMostReaders(op, placement);
    if (!problem_.pins[op].valid() && isCheapOn(device, op)) {
      placement.device[op] = device;
    }
  }
  for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
    const OpId parameter = graph_[graph_[assign].operands[0]].producer;
    const OpId value = graph_[graph_[assign].operands[1]].producer;
    if (assignOf_[parameter].valid() && !problem_.pins[assign].valid() && !problem_.pins[parameter].valid() &&
        isCandidate_[value]) {
      placement.device[assign] = placement.device[parameter] = placement.device[value];
    }
  }
}

// The first on a tie; where assigns alone read it, where it is.
DeviceId CheapOps::deviceOfMostReaders(OpId op, const Placement& placement) const {
  std::map<DeviceId, int> counts;
  for (const OpId reader : readers_[op]) {
    if (graph_[reader].kind() != OpKind::Assign) {
      ++counts[placement.device[reader]];
    }
  }
  const auto most = std::max_element(counts.begin(), counts.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? placement.device[op] : most->first;
}

} // namespace dfc
