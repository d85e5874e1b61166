// With x the normalised operand, 1 / sqrt(variance + epsilon) times a less its mean, g the cotangent behind
// the relu, and n elements a channel:
//   dscale = sum(g x),  dbias = sum(g),  da = scale / sqrt(variance + epsilon) * (g - (dbias + x dscale) / n)
// f16 and bf16 are computed in f32 and rounded once, as in the ops themselves.
#include "compiler/split/unfold_batch_norms.h"

#include "compiler/passes/expand_ops.h"
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc {
namespace {

/// The axes of a tensor around its channels.
class ChannelAxes {
 public:
  ChannelAxes(const Tensor& a, int64_t axis) {
    const size_t rank = a.shape().rank(), channels = *normalAxis(axis, rank);
    spread_.assign(rank, 1);
    spread_[channels] = a.shape()[channels];
    elements_ = a.shape().elements() / std::max<int64_t>(1, a.shape()[channels]);
    for (size_t other = 0; other < rank; ++other) {
      if (other != channels) {
        others_.push_back(static_cast<int64_t>(other));
      }
    }
  }
  const Dims& others() const { return others_; }
  double elements() const { return static_cast<double>(elements_); } ///< of a channel
  /// A number for each channel, to be broadcast against the tensor.
  Tensor spread(const Tensor& vector) const { return reshape(widened(vector), spread_); }

 private:
  Dims others_, spread_;
  int64_t elements_ = 0;
};

/// Of the element type and shape of a vector of channels.
Tensor asVector(const Tensor& spread, const TensorType& vector) {
  return narrowed(reshape(spread, Dims(vector.shape.dims().begin(), vector.shape.dims().end())),
                  vector.element);
}

// The operands are widened and centred anew for each use: every reduction and the result is then one pass
// over the operand, in which fusion computes them, and nothing is stored between the passes.
std::vector<Tensor> unfolded(const ops::BatchNormTraining& op, llvm::ArrayRef<Tensor> operands) {
  const ChannelAxes axes(operands[0], op.axis);
  const ElementType element = operands[0].type().element;
  const TensorType vector = operands[1].type();
  const Tensor mean = reduceMean(widened(operands[0]), axes.others(), true);
  const auto centre = [&] { return widened(operands[0]) - mean; };
  const Tensor variance = reduceMean(centre() * centre(), axes.others(), true);
  const Tensor factor = rsqrt(variance + op.epsilon) * axes.spread(operands[1]);
  Tensor result = centre() * factor + axes.spread(operands[2]);
  result = operands.size() == 4 ? result + widened(operands[3]) : result;
  result = op.relu ? relu(result) : result;
  return {narrowed(result, element), asVector(mean, vector), asVector(variance, vector)};
}

std::vector<Tensor> unfolded(const ops::BatchNormGradient& op, llvm::ArrayRef<Tensor> operands) {
  const ChannelAxes axes(operands[0], op.axis);
  const ElementType element = operands[0].type().element;
  const TensorType vector = operands[1].type();
  const Tensor inverse = rsqrt(axes.spread(operands[3]) + op.epsilon);
  const Tensor mean = axes.spread(operands[2]);
  const auto x = [&] { return (widened(operands[0]) - mean) * inverse; };
  const auto g = [&] {
    const Tensor cotangent = widened(operands[4]);
    return op.relu ? select(compare(operands[5], 0, Direction::Gt), cotangent, 0) : cotangent;
  };
  const Tensor ofBias = reduceSum(g(), axes.others(), true),
               ofScale = reduceSum(g() * x(), axes.others(), true);
  const Tensor shared = (ofBias + x() * ofScale) * (1 / axes.elements());
  std::vector<Tensor> results = {narrowed(axes.spread(operands[1]) * inverse * (g() - shared), element),
                                 asVector(ofScale, vector), asVector(ofBias, vector)};
  if (op.addend) {
    results.push_back(narrowed(g(), element));
  }
  return results;
}

} // namespace

Graph unfoldBatchNorms(const Graph& graph) {
  const auto isUnfolded = [&](OpId op) {
    const OpKind kind = graph[op].kind();
    return (kind == OpKind::BatchNormTraining || kind == OpKind::BatchNormGradient) &&
           graph.typeOf(graph[op].operands[0]).shape.elements() > 0 &&
           graph.typeOf(graph[op].operands[0]).shape.rank() > 1; // else a channel is one element
  };
  if (llvm::none_of(graph.ops(), isUnfolded)) {
    return graph;
  }
  OpExpansion expansion(graph);
  Builder& builder = expansion.builder();
  auto made = std::move(expansion).run(isUnfolded, [&](OpId op, llvm::ArrayRef<Tensor> operands) {
    const Builder::Guard around = builder.exactly(graph.scopeOf(op), graph.pinOf(op));
    const auto* training = graph[op].getIf<ops::BatchNormTraining>();
    return training != nullptr ? unfolded(*training, operands)
                               : unfolded(graph[op].as<ops::BatchNormGradient>(), operands);
  });
  DFC_ASSERT(made.ok(), "unfolding a batch norm broke the graph: " + render(made.errors()));
  return *std::move(made);
}

} // namespace dfc
