// set_precision: how products of f32 operands are taken where the author left it to the plan.
//
// Afterwards no op says more than it must: tf32, or nothing, which means ieee, so that share_common_ops takes
// equal products for equal. For bf16 and f16 the op computes in that type, its f32 operands cast to it and
// its results cast back (mixed precision, Micikevicius et al. 2018): parameters, their updates, norms and
// losses stay in f32. Where one product reads another's result, `simplify` takes the casts between them away.
// Products of other types have one precision only. A fused product, which only a file holds so early, is
// never narrowed.
#include "compiler/passes/casts.h"
#include "compiler/passes/passes.h"

#include "ir/graph/rewriter.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

// How many of a product's operands, the first ones, are factors; the others are f32 sums or masks. 0 for ops
// that are no products.
size_t factorsOf(OpKind kind) {
  switch (kind) {
  case OpKind::Matmul:
  case OpKind::FusedMatmul:
  case OpKind::Conv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient: return 2;
  case OpKind::Attention: return 3;
  case OpKind::AttentionGradient: return 4;
  default: return 0;
  }
}

// The attribute in which a product states its precision; null for one that states none.
Precision* statedIn(OpAttributes& attributes) {
  if (auto* matmul = attributes.getIf<ops::Matmul>()) {
    return &matmul->precision;
  }
  if (auto* fused = attributes.getIf<ops::FusedMatmul>()) {
    return &fused->precision;
  }
  if (auto* attention = attributes.getIf<ops::Attention>()) {
    return &attention->precision;
  }
  if (auto* gradient = attributes.getIf<ops::AttentionGradient>()) {
    return &gradient->forward.precision;
  }
  return nullptr;
}

std::optional<ElementType> narrowTypeOf(Precision precision) {
  return precision == Precision::Bf16  ? std::optional(ElementType::BF16)
         : precision == Precision::F16 ? std::optional(ElementType::F16)
                                       : std::nullopt;
}

// What becomes of one product.
struct Settled {
  OpAttributes attributes;
  std::optional<ElementType> narrow; ///< the type that it is computed in instead of f32
};

// None where the op stays as it is.
std::optional<Settled> settled(const Graph& graph, OpId op, Precision byDefault) {
  const OpRow& row = graph[op];
  if (factorsOf(row.kind()) == 0) {
    return std::nullopt;
  }
  Settled next{row.attributes, std::nullopt};
  Precision* const stated = statedIn(next.attributes);
  const Precision before = stated != nullptr ? *stated : Precision::Unstated;
  const Precision wanted = before == Precision::Unstated ? byDefault : before;
  const bool isF32 = graph.typeOf(row.operands[0]).element == ElementType::F32;
  const Precision after = isF32 && wanted == Precision::Tf32 ? Precision::Tf32 : Precision::Unstated;
  if (stated != nullptr) {
    *stated = after;
  }
  if (isF32 && row.kind() != OpKind::FusedMatmul) {
    next.narrow = narrowTypeOf(wanted);
  }
  const bool changes = next.narrow || (stated != nullptr && before != after);
  return changes ? std::optional(std::move(next)) : std::nullopt;
}

class Settling {
 public:
  explicit Settling(const Graph& graph) : graph_(graph), rewriter_(graph) {}
  Rewriter& rewriter() { return rewriter_; }

  void replace(OpId op, Settled next) {
    const OpRow& row = graph_[op];
    llvm::SmallVector<ValueId, 3> operands;
    for (const ValueId operand : row.operands) {
      const bool isFactor = operands.size() < factorsOf(row.kind());
      const ValueId now = rewriter_.mapped(operand);
      operands.push_back(
          isFactor && next.narrow
              ? appendCast(rewriter_, *next.narrow, now, op, narrowName(graph_.nameOf(operand), *next.narrow))
              : now);
    }
    // A narrow product leaves its name to the result that is cast back.
    const std::string name = next.narrow ? narrowName(graph_.nameOf(op), *next.narrow) : "";
    const OpId made = rewriter_.append(std::move(next.attributes), operands, op, name);
    for (const ValueId result : row.results()) {
      ValueId now = rewriter_.builder().result(made, result.index() - row.firstResult.index());
      const ElementType element = graph_.typeOf(result).element;
      now = rewriter_.builder().soFar().typeOf(now).element == element
                ? now
                : appendCast(rewriter_, element, now, op, "");
      rewriter_.builder().rename(now, graph_.nameOf(result));
      rewriter_.replace(result, now);
    }
  }

 private:
  const Graph& graph_;
  Rewriter rewriter_;
};

} // namespace

Result<Graph> setPrecision(const Graph& graph, const PassOptions& options) {
  const auto changes = [&](OpId op) { return settled(graph, op, options.precision).has_value(); };
  if (llvm::none_of(graph.ops(), changes)) {
    return graph;
  }
  Settling settling(graph);
  for (const OpId op : graph.ops()) {
    if (auto next = settled(graph, op, options.precision)) {
      settling.replace(op, *std::move(next));
    } else {
      settling.rewriter().copy(op);
    }
  }
  return std::move(settling.rewriter()).finish();
}

} // namespace dfc
