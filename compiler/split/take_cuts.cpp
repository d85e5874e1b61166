#include "compiler/split/take_cuts.h"

#include "ir/graph/rewriter.h"

namespace dfc {
namespace {

// Whether the op goes by the name of its kind, "matmul" or "matmul.2": the author gave it none.
bool isUnnamed(const Graph& graph, OpId op) {
  const std::string_view name = graph.nameOf(op), kind = nameOf(graph[op].kind());
  return name.starts_with(kind) && (name.size() == kind.size() || name[kind.size()] == '.');
}

} // namespace

TakenCuts takeCuts(const Graph& graph) {
  if (graph.opsOf(OpKind::Cut).empty()) {
    return {graph, {}};
  }
  std::vector<TakenCut> cuts;
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const auto* cut = row.getIf<ops::Cut>();
    if (cut == nullptr) {
      rewriter.copy(op);
      continue;
    }
    const ValueId value = rewriter.mapped(row.operands[0]);
    const OpId producer = rewriter.soFar()[value].producer;
    if (rewriter.soFar()[producer].resultCount == 1 && isUnnamed(rewriter.soFar(), producer) &&
        !isUnnamed(graph, op)) {
      rewriter.builder().rename(value, graph.nameOf(op));
    }
    rewriter.replace(row.firstResult, value);
    cuts.push_back({value, cut->axis, cut->devices, graph.locationOf(op), std::string(graph.scopeOf(op))});
  }
  return {std::move(rewriter).finish(), std::move(cuts)};
}

} // namespace dfc
