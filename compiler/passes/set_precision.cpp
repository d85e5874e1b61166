// set_precision: how products of f32 operands are taken where the author left it to the plan. Afterwards no
// op says more than it must: tf32, or nothing, which means ieee, so that share_common_ops takes equal
// products for equal. Products of other types have one precision only.
#include "compiler/passes/passes.h"

#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

Precision settled(Precision stated, ElementType element, Precision byDefault) {
  const Precision wanted = stated == Precision::Unstated ? byDefault : stated;
  return element == ElementType::F32 && wanted == Precision::Tf32 ? Precision::Tf32 : Precision::Unstated;
}

// The op's attributes with its precision settled; none when they are so already.
template <class Op>
std::optional<OpAttributes> changed(const Op& op, ElementType element, Precision byDefault) {
  Op next = op;
  next.precision = settled(op.precision, element, byDefault);
  return next.precision == op.precision ? std::nullopt : std::optional<OpAttributes>(next);
}
std::optional<OpAttributes> changed(const ops::AttentionGradient& op, ElementType element,
                                    Precision byDefault) {
  ops::AttentionGradient next = op;
  next.forward.precision = settled(op.forward.precision, element, byDefault);
  return next.forward.precision == op.forward.precision ? std::nullopt : std::optional<OpAttributes>(next);
}

std::optional<OpAttributes> changed(const Graph& graph, OpId op, Precision byDefault) {
  const OpRow& row = graph[op];
  const auto settle = [&](const auto& product) {
    return changed(product, graph.typeOf(row.operands[0]).element, byDefault);
  };
  switch (row.kind()) {
  case OpKind::Matmul: return settle(row.as<ops::Matmul>());
  case OpKind::FusedMatmul: return settle(row.as<ops::FusedMatmul>());
  case OpKind::Attention: return settle(row.as<ops::Attention>());
  case OpKind::AttentionGradient: return settle(row.as<ops::AttentionGradient>());
  default: return std::nullopt;
  }
}

} // namespace

Result<Graph> setPrecision(const Graph& graph, const PassOptions& options) {
  const Precision byDefault = options.precision;
  if (llvm::none_of(graph.ops(), [&](OpId op) { return changed(graph, op, byDefault).has_value(); })) {
    return graph;
  }
  Rewriter rewriter(graph);
  for (const OpId op : graph.ops()) {
    std::optional<OpAttributes> attributes = changed(graph, op, byDefault);
    if (!attributes) {
      rewriter.copy(op);
      continue;
    }
    llvm::SmallVector<ValueId, 3> operands;
    llvm::transform(graph[op].operands, std::back_inserter(operands),
                    [&](ValueId value) { return rewriter.mapped(value); });
    const OpId made = rewriter.append(*std::move(attributes), operands, op);
    for (const ValueId result : graph[op].results()) {
      const ValueId next = rewriter.builder().result(made, result.index() - graph[op].firstResult.index());
      rewriter.builder().rename(next, graph.nameOf(result));
      rewriter.replace(result, next);
    }
  }
  return std::move(rewriter).finish();
}

} // namespace dfc
