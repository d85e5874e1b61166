// decompose: puts the decomposition (ir/author/decompositions.h) in the place of every composite op for which
// some kind of device has no kernel. The machine is not asked: a graph gives the same bits on a laptop as on
// GPUs. The new ops have the op's scope and pin, and its results' names.
#include "compiler/passes/expand_ops.h"
#include "compiler/passes/passes.h"
#include "ir/author/decompositions.h"
#include "ir/machine/kernel_claims.h"

namespace dfc {

Result<Graph> decompose(const Graph& graph, const PassOptions& /*options*/) {
  const auto isDecomposed = [&](OpId op) {
    const OpRow& row = graph[op];
    return isComposite(row.kind()) && !everyKindClaims(row.attributes, graph.operandTypesOf(op));
  };
  if (llvm::none_of(graph.ops(), isDecomposed)) {
    return graph;
  }
  OpExpansion expansion(graph);
  Builder& builder = expansion.builder();
  return std::move(expansion).run(isDecomposed, [&](OpId op, llvm::ArrayRef<Tensor> operands) {
    const Builder::Guard around = builder.exactly(graph.scopeOf(op), graph.pinOf(op));
    return decompose(graph[op].attributes, operands);
  });
}

} // namespace dfc
