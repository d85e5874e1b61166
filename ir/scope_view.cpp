#include "ir/scope_view.h"

#include <algorithm>
#include <map>

namespace dfc {
namespace {

bool refreshesReplica(const PlacedGraph& placed, OpId op) {
  const OpRow& row = placed.graph[op];
  return row.kind() == OpKind::Assign &&
         placed.replicas.count(placed.graph[row.operands.front()].producer) != 0;
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
  return view;
}

std::string transferLabel(const PlacedGraph& placed, OpId transfer) {
  const Graph& graph = placed.graph;
  // A staged copy ends where the last of its hops does; what that feeds says what is carried.
  ValueId carried = graph[transfer].firstResult;
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    if (row.operands.empty() || row.operands.back() != carried) {
      continue;
    }
    if (row.kind() == OpKind::Transfer) {
      carried = row.firstResult;
    } else if (row.kind() == OpKind::Assign) {
      const OpId parameter = graph[row.operands.front()].producer;
      const auto original = placed.replicas.find(parameter);
      const OpId named = original == placed.replicas.end() ? parameter : original->second;
      return "copy new " + std::string(graph.nameOf(named));
    }
  }
  ValueId source = graph[transfer].operands.front();
  while (graph[graph[source].producer].kind() == OpKind::Transfer) {
    source = graph[graph[source].producer].operands.front();
  }
  return "copy " + std::string(graph.nameOf(source));
}

} // namespace dfc
