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
  }
  double elements() const { return static_cast<double>(elements_); } ///< of a channel
  /// A number for each channel, to be broadcast against the tensor.
  Tensor spread(const Tensor& vector) const { return reshape(widened(vector), spread_); }

 private:
  Dims spread_;
  int64_t elements_ = 0;
};

/// The two sums of each channel, in f64, one above the other. What is made of them is a fused reduction of the
/// two rows, so that no row is copied out.
class Sums {
 public:
  Sums(const ops::BatchNormSums& op, llvm::ArrayRef<Tensor> operands)
      : sums_(operands[0].builder()->op(op, operands.vec(), std::source_location::current())) {
    Literal first(TensorType{ElementType::Bool, {2, 1}});
    first.set(0, 1);
    isFirst_ = operands[0].builder()->constant(first);
  }
  /// factor times row 0, or row 1, in `element`.
  Tensor first(double factor, ElementType element) const {
    return reduceSum(select(isFirst_, cast(sums_ * factor, element), 0), {0});
  }
  Tensor second(double factor, ElementType element) const {
    return reduceSum(select(isFirst_, 0, cast(sums_ * factor, element)), {0});
  }
  /// factor times row 1, less the square of factor times row 0: in f64, as it may nearly cancel.
  Tensor difference(double factor) const {
    const Tensor scaled = sums_ * factor;
    return reduceSum(select(isFirst_, -(scaled * scaled), scaled), {0});
  }

 private:
  Tensor sums_, isFirst_;
};

/// The type in which a tensor of `element` is computed.
ElementType computed(ElementType element) {
  return element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

// Values that several ops read are stored, so that small ones are computed anew for each: then each small op
// is one fused op, and the passes over the operand read it widened where they use it.
std::vector<Tensor> unfolded(const ops::BatchNormTraining& op, llvm::ArrayRef<Tensor> operands) {
  const ChannelAxes axes(operands[0], op.axis);
  const ElementType element = operands[0].type().element;
  const TensorType vector = operands[1].type();
  ops::BatchNormSums sumsOf;
  sumsOf.axis = op.axis;
  const Sums sums(sumsOf, {operands[0]});
  const double part = 1 / axes.elements();
  const Tensor mean = sums.first(part, computed(element)), difference = sums.difference(part);
  const auto variance = [&] { return cast(max(difference, 0), computed(element)); };
  const Tensor factor = rsqrt(variance() + op.epsilon) * widened(operands[1]);
  Tensor result = (widened(operands[0]) - axes.spread(mean)) * axes.spread(factor) + axes.spread(operands[2]);
  result = operands.size() == 4 ? result + widened(operands[3]) : result;
  result = op.relu ? relu(result) : result;
  return {narrowed(result, element), narrowed(mean, vector.element), narrowed(variance(), vector.element)};
}

std::vector<Tensor> unfolded(const ops::BatchNormGradient& op, llvm::ArrayRef<Tensor> operands) {
  const ChannelAxes axes(operands[0], op.axis);
  const ElementType element = operands[0].type().element;
  const TensorType vector = operands[1].type();
  ops::BatchNormSums sumsOf;
  sumsOf.axis = op.axis;
  sumsOf.relu = op.relu;
  llvm::SmallVector<Tensor, 4> summed = {operands[0], operands[2], operands[4]};
  if (op.relu) {
    summed.push_back(operands[5]);
  }
  const Sums sums(sumsOf, summed);
  const auto g = [&] {
    const Tensor cotangent = widened(operands[4]);
    return op.relu ? select(compare(operands[5], 0, Direction::Gt), cotangent, 0) : cotangent;
  };
  const Tensor inverse = rsqrt(widened(operands[3]) + op.epsilon);
  const double part = 1 / axes.elements();
  const auto factor = [&] { return widened(operands[1]) * inverse; };
  const Tensor ofX = factor() * inverse * inverse * sums.second(part, computed(element));
  const Tensor rest = factor() * sums.first(part, computed(element));
  const Tensor centred = widened(operands[0]) - axes.spread(operands[2]);
  const Tensor ofA = g() * axes.spread(factor()) - centred * axes.spread(ofX) - axes.spread(rest);
  std::vector<Tensor> results = {narrowed(ofA, element),
                                 narrowed(sums.second(1, computed(element)) * inverse, vector.element),
                                 narrowed(sums.first(1, computed(element)), vector.element)};
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
