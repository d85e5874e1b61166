// drop_dead_ops: leaves out every op that no fetch and no assign depends on.
//
// Roots are the fetches, the assigns (a parameter's next value is an effect), custom ops that are not pure,
// and the ops that callers name: inputs and parameters stay even when nothing reads them. A feed or a saved
// state that was right for the source must stay right for every plan of it, and which reads algebra removes
// may depend on pins. Two linear walks: marks backwards (an op names only older values, so every reader comes
// before its operands), copies forwards.
#include "compiler/passes/passes.h"
#include "ir/graph/rewriter.h"

namespace dfc {
namespace {

bool isRoot(const OpRow& row) {
  const auto* custom = row.getIf<ops::Custom>();
  return classOf(row.kind()) == OpClass::State || row.kind() == OpKind::Input ||
         row.kind() == OpKind::Parameter || (custom != nullptr && !custom->pure);
}

SideTable<OpId, bool> findLive(const Graph& graph) {
  SideTable<OpId, bool> live(graph.opCount(), false);
  for (const Fetch& fetch : graph.fetches()) {
    live[graph[fetch.value].producer] = true;
  }
  for (auto index = static_cast<uint32_t>(graph.opCount()); index-- > 0;) {
    const OpId op(index);
    live[op] = live[op] || isRoot(graph[op]);
    if (live[op]) {
      for (const ValueId operand : graph[op].operands) {
        live[graph[operand].producer] = true;
      }
    }
  }
  return live;
}

} // namespace

Result<Graph> dropDeadOps(const Graph& graph, const PassOptions& /*options*/) {
  const SideTable<OpId, bool> live = findLive(graph);
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    if (live[op]) {
      rewriter.copy(op);
    }
  }
  return std::move(rewriter).finish();
}

} // namespace dfc
