// See repinned.h.
#include "tests/support/repinned.h"

#include "ir/graph/rewriter.h"

namespace dfc::test {

bool computes(OpKind kind) { return classOf(kind) != OpClass::Source && classOf(kind) != OpClass::State; }

Graph repinned(const Graph& graph, llvm::function_ref<std::string(OpId)> pin) {
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    rewriter.builder().repin(rewriter.copy(op), computes(graph[op].kind()) ? pin(op) : "");
  }
  return std::move(rewriter).finish();
}

} // namespace dfc::test
