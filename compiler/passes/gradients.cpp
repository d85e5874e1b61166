// gradients: puts ordinary ops in the place of every `gradients` op, by the rules of ir/author/gradients.h.
//
// The new ops have the scopes and pins that `dfc::gradients` gives them. A request's results hand their names
// on, unless they are the default ones, which say less than "<x>.gradient" does. A mistake is an op without a
// gradient on the way.
#include "ir/author/gradients.h"
#include "compiler/passes/expand_ops.h"
#include "compiler/passes/passes.h"

namespace dfc {

Result<Graph> expandGradients(const Graph& graph, const PassOptions& /*options*/) {
  if (graph.opsOf(OpKind::Gradients).empty()) {
    return graph;
  }
  return OpExpansion(graph).run([&](OpId op) { return graph[op].kind() == OpKind::Gradients; },
                                [](OpId, llvm::ArrayRef<Tensor> operands) {
                                  return gradients(operands.front(), operands.drop_front().vec());
                                });
}

} // namespace dfc
