// See scope_view.h.
#include "ir/draw/scope_view.h"

#include "ir/draw/display_name.h"

#include <algorithm>
#include <map>

namespace dfc {
namespace {

bool refreshesReplica(const PlacedGraph& placed, OpId op) {
  const OpRow& row = placed.graph[op];
  return row.kind() == OpKind::Assign &&
         placed.replicas.count(placed.graph[row.operands.front()].producer) != 0;
}

std::vector<ScopeState> statesOf(const Graph& graph, const SideTable<OpId, uint32_t>& boxOf) {
  std::vector<ScopeState> states;
  SideTable<OpId, uint32_t> stateOf(graph.opCount(), ScopeView::hidden);
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    if (row.kind() == OpKind::Parameter) {
      stateOf[op] = static_cast<uint32_t>(states.size());
      states.push_back({op, {}, {}});
    }
    const bool assign = row.kind() == OpKind::Assign;
    for (size_t i = assign ? 1 : 0; i < row.operands.size(); ++i) {
      const uint32_t state = stateOf[graph[row.operands[i]].producer];
      if (state != ScopeView::hidden && boxOf[op] != ScopeView::hidden) {
        states[state].readers.push_back(boxOf[op]);
      }
    }
    if (assign && stateOf[graph[row.operands[0]].producer] != ScopeView::hidden) {
      const uint32_t writer = boxOf[graph[row.operands[1]].producer];
      auto& writers = states[stateOf[graph[row.operands[0]].producer]].writers;
      writers.assign(writer == ScopeView::hidden ? 0 : 1, writer);
    }
  }
  for (ScopeState& state : states) {
    std::sort(state.readers.begin(), state.readers.end());
    state.readers.erase(std::unique(state.readers.begin(), state.readers.end()), state.readers.end());
  }
  return states;
}

} // namespace

ScopeView collapseByScope(const PlacedGraph& placed) {
  const Graph& graph = placed.graph;
  ScopeView view;
  view.boxOf.resize(graph.opCount(), ScopeView::hidden);
  std::map<std::pair<DeviceId, std::string>, uint32_t> ofScope;
  for (const OpId op : graph.ops()) {
    if (placed.isResident(op) || refreshesReplica(placed, op)) {
      continue;
    }
    const bool transfer = placed.transfers.count(op) != 0;
    const std::string scope(graph.scopeOf(op));
    auto box = static_cast<uint32_t>(view.boxes.size());
    if (!transfer && !scope.empty()) {
      box = ofScope.try_emplace({placed.device[op], scope}, box).first->second;
    }
    if (box == view.boxes.size()) {
      const bool named = !transfer && !scope.empty();
      view.boxes.push_back({named ? scope : std::string(graph.nameOf(op)), placed.device[op], transfer, {}});
    }
    view.boxes[box].ops.push_back(op);
    view.boxOf[op] = box;
    for (const ValueId operand : graph[op].operands) {
      const uint32_t from = view.boxOf[graph[operand].producer];
      if (from != ScopeView::hidden && from != box) {
        view.edges.emplace_back(from, box);
      }
    }
  }
  std::sort(view.edges.begin(), view.edges.end());
  view.edges.erase(std::unique(view.edges.begin(), view.edges.end()), view.edges.end());
  view.states = statesOf(graph, view.boxOf);
  return view;
}

TransferLabels::TransferLabels(const PlacedGraph& placed)
    : placed_(placed), goesTo_(placed.graph.valueCount(), OpId{}) {
  for (const OpId op : placed.graph.ops()) {
    const OpRow& row = placed.graph[op];
    if (row.kind() == OpKind::Transfer || row.kind() == OpKind::Assign) {
      OpId& next = goesTo_[row.operands.back()];
      next = next.valid() ? next : op;
    }
  }
}

std::string TransferLabels::of(OpId transfer) const {
  const Graph& graph = placed_.graph;
  // A staged copy ends where the last of its hops does; what that feeds says what is carried.
  OpId last = transfer;
  for (OpId next = last; next.valid() && graph[next].kind() == OpKind::Transfer;) {
    last = next;
    next = goesTo_[graph[last].firstResult];
  }
  if (const OpId assign = goesTo_[graph[last].firstResult]; assign.valid()) {
    const OpId parameter = graph[graph[assign].operands.front()].producer;
    const auto original = placed_.replicas.find(parameter);
    const OpId named = original == placed_.replicas.end() ? parameter : original->second;
    return "copy new " + std::string(graph.nameOf(named));
  }
  ValueId source = graph[transfer].operands.front();
  while (graph[graph[source].producer].kind() == OpKind::Transfer) {
    source = graph[graph[source].producer].operands.front();
  }
  const OpId producer = graph[source].producer;
  if (graph[producer].resultCount > 1) {
    return "copy " + std::string(graph.nameOf(source));
  }
  const std::string scope(graph.scopeOf(producer));
  const bool onlyScope = nameIsMadeUp(graph, producer) && !scope.empty();
  return "copy " + displayName(graph, producer) + (onlyScope ? " of " + scope : "");
}

} // namespace dfc
