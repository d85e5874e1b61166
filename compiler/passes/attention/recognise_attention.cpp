// recognise_attention: replaces the matrix products, masks and softmax of an attention (attention_pattern.h)
// by the op `attention`, if every device kind has a kernel for it. The scores are then never stored.
//
// The pass precedes `gradients`, so that the backward pass is attentionGradient: for the requests of a graph
// file, and for gradients that the DSL has appended already, which are removed and computed again
// (GradientRecord). Rounding changes: the op accumulates in f32 and rounds once. A query whose keys are all
// masked gives zeros, where the softmax of a row of -infinity is NaN. An attention is left alone if an
// intermediate value is fetched, has another use, or is pinned to another device than the last product.
#include "compiler/passes/attention/attention_pattern.h"
#include "compiler/passes/differentiations.h"
#include "compiler/passes/expand_ops.h"
#include "compiler/passes/passes.h"
#include "ir/author/composites.h"
#include "ir/author/gradient_parts.h"
#include "ir/machine/kernel_claims.h"

#include <numeric>

namespace dfc {
namespace {

bool hasKernels(const Graph& graph, const AttentionPattern& pattern) {
  ops::Attention op;
  op.causal = pattern.causal;
  op.scale = pattern.scale;
  op.precision = pattern.precision;
  const ElementType element = graph.typeOf(pattern.v.value).element;
  llvm::SmallVector<TensorType, 4> types = {
      {element, pattern.q.shape}, {element, pattern.k.shape}, {element, pattern.v.shape}};
  if (!pattern.masks.empty()) {
    std::optional<Shape> mask = Shape();
    for (const KeyMask& one : pattern.masks) {
      mask = broadcastShapes(*mask, graph.typeOf(one.value).shape);
      DFC_ASSERT(mask, "masks broadcast to the same scores");
    }
    types.push_back({ElementType::Bool, *mask});
  }
  return resultTypes(op, types).ok() && everyKindClaims(op, types);
}

class Writer {
 public:
  Writer(const Graph& graph, OpExpansion& expansion) : graph_(graph), expansion_(expansion) {}

  Tensor write(const AttentionPattern& pattern, OpId product) {
    const Builder::Guard around =
        expansion_.builder().exactly(graph_.scopeOf(product), graph_.pinOf(product));
    AttentionOptions options;
    options.causal = pattern.causal;
    options.scale = pattern.scale;
    options.precision = pattern.precision;
    for (const KeyMask& mask : pattern.masks) {
      const Tensor seen = condition(mask);
      options.mask = options.mask.valid() ? options.mask & seen : seen;
    }
    const Tensor q = operand(pattern.q), k = operand(pattern.k), v = operand(pattern.v);
    const Tensor result = attention(q, k, v, options);
    return reshapedTo(result, graph_.typeOf(graph_[product].firstResult).shape);
  }

 private:
  Tensor operand(const AttentionOperand& operand) {
    Tensor x = expansion_.tensor(operand.value);
    if (operand.transposed) {
      Dims permutation(x.shape().rank());
      std::iota(permutation.begin(), permutation.end(), 0);
      std::swap(permutation.end()[-1], permutation.end()[-2]);
      x = transpose(x, permutation);
    }
    return reshapedTo(x, operand.shape);
  }

  Tensor condition(const KeyMask& mask) {
    const Tensor value = expansion_.tensor(mask.value);
    switch (mask.kind) {
    case KeyMask::Kind::WhereFalse: return ~value;
    case KeyMask::Kind::WhereZero: return compare(value, 0, Direction::Eq);
    default: return value;
    }
  }

  const Graph& graph_;
  OpExpansion& expansion_;
};

// The attentions of the graph, by their last product.
using Found = llvm::DenseMap<OpId, AttentionPattern>;
Found attentionsIn(const Graph& graph, const Differentiations& written, const PassOptions& options) {
  AttentionMatcher matcher(graph, [&](OpId op) { return written.isWrittenAnew(op); });
  Found found;
  for (const OpId product : graph.opsOf(OpKind::Matmul)) {
    if (written.isWrittenAnew(product)) {
      continue;
    }
    const auto pattern = matcher.match(product);
    const auto isPinnedApart = [&](OpId op) {
      return options.pinnedAlike && !options.pinnedAlike(graph, op, product);
    };
    if (pattern && hasKernels(graph, *pattern) && llvm::none_of(pattern->intermediate, isPinnedApart)) {
      found.try_emplace(product, *pattern);
    }
  }
  return found;
}

} // namespace

Result<Graph> recogniseAttention(const Graph& graph, const PassOptions& options) {
  if (graph.opsOf(OpKind::Softmax).empty() && graph.opsOf(OpKind::Exp).empty()) {
    return graph;
  }
  const Differentiations written(graph);
  const Found found = attentionsIn(graph, written, options);
  if (found.empty()) {
    return graph;
  }
  OpExpansion expansion(graph);
  Writer writer(graph, expansion);
  auto result =
      std::move(expansion).run([&](OpId op) { return found.count(op) != 0 || written.isWrittenAnew(op); },
                               [&](OpId op, llvm::ArrayRef<Tensor>) -> std::vector<Tensor> {
                                 if (const GradientRecord* record = written.beginningAt(op)) {
                                   differentiateAnew(*record, expansion);
                                 }
                                 return written.isWrittenAnew(op)
                                            ? std::vector<Tensor>()
                                            : std::vector<Tensor>{writer.write(found.find(op)->second, op)};
                               });
  return result ? Result<Graph>(*std::move(result)) : result; // warnings of gradients came with the graph
}

} // namespace dfc
