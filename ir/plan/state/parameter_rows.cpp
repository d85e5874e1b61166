#include "ir/plan/state/parameter_rows.h"

#include "ir/graph/whole_state.h"

#include <llvm/ADT/STLExtras.h>

#include <map>

namespace dfc {

std::vector<ParameterRow> parametersOf(const PlacedGraph& placed) {
  const Graph& graph = placed.graph;
  std::vector<ParameterRow> rows;
  std::map<std::string_view, size_t> rowNamed;
  SideTable<OpId, size_t> rowOf(graph.opCount());
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    if (placed.replicas.count(op)) {
      continue;
    }
    const std::string_view name = authorNameOf(graph, op);
    const auto [found, isNew] = rowNamed.try_emplace(name, rows.size());
    if (isNew) {
      rows.push_back(
          {std::string(name), authorTypeOf(graph, op), {}, {}, graph[op].as<ops::Parameter>().ofPlan});
    }
    rowOf[op] = found->second;
    const ParameterPart part{graph[op].firstResult, placeOf(graph, op)};
    const bool isCopy = llvm::any_of(rows[found->second].parts, [&](const ParameterPart& other) {
      return other.place.starts == part.place.starts && graph.typeOf(other.value) == graph.typeOf(part.value);
    });
    if (!isCopy) {
      rows[found->second].parts.push_back(part);
    }
    rows[found->second].copies.push_back(part);
  }
  for (const OpId op : graph.opsOf(OpKind::Parameter)) { // in graph order, unlike the map
    const auto found = placed.replicas.find(op);
    if (found != placed.replicas.end()) {
      rows[rowOf[found->second]].copies.push_back({graph[op].firstResult, placeOf(graph, op)});
    }
  }
  return rows;
}

} // namespace dfc
