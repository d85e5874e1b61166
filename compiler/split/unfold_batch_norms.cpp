// One op sums over the parts, one goes over them once the sums of all are known, and small ops make of the
// sums what else the norm gives: the statistics, or the gradients to scale and bias.
#include "compiler/split/unfold_batch_norms.h"

#include "compiler/passes/expand_ops.h"
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/graph/rules/batch_norm_rules.h"

namespace dfc {
namespace {

/// The two sums of each channel, in f64, one above the other. The rows are slices, which become views.
class Sums {
 public:
  Sums(const ops::BatchNormSums& op, llvm::ArrayRef<Tensor> operands)
      : sums_(operands[0].builder()->op(op, operands.vec(), std::source_location::current())) {}
  const Tensor& all() const { return sums_; }
  /// factor times row 0, or row 1, in `element`.
  Tensor first(double factor, ElementType element) const { return cast(row(0) * factor, element); }
  Tensor second(double factor, ElementType element) const { return cast(row(1) * factor, element); }
  /// factor times row 1, less the square of factor times row 0: in f64, as it may nearly cancel.
  Tensor difference(double factor) const {
    const Tensor first = row(0) * factor;
    return row(1) * factor - first * first;
  }

 private:
  Tensor row(int64_t index) const {
    const int64_t channels = sums_.shape()[1];
    return reshape(slice(sums_, {index, 0}, {index + 1, channels}), {channels});
  }

  Tensor sums_;
};

/// The type in which a tensor of `element` is computed.
ElementType computed(ElementType element) {
  return element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

// Small values that several ops would read are computed anew for each, which makes each small op one fused
// op.
std::vector<Tensor> unfolded(const ops::BatchNormTraining& op, llvm::ArrayRef<Tensor> operands) {
  const ElementType element = operands[0].type().element, vector = operands[1].type().element;
  ops::BatchNormSums sumsOf;
  sumsOf.axis = op.axis;
  const Sums sums(sumsOf, {operands[0]});
  ops::BatchNormPass pass;
  pass.count = Channels(operands[0].shape(), op.axis).elements();
  pass.axis = op.axis;
  pass.epsilon = op.epsilon;
  pass.relu = op.relu;
  std::vector<Tensor> read = {operands[0], operands[1], operands[2], sums.all()};
  read.insert(read.end(), operands.begin() + 3, operands.end());
  const Tensor result = operands[0].builder()->op(pass, read, std::source_location::current());
  const double part = 1 / static_cast<double>(pass.count);
  return {result, narrowed(sums.first(part, computed(element)), vector),
          narrowed(cast(max(sums.difference(part), 0), computed(element)), vector)};
}

std::vector<Tensor> unfolded(const ops::BatchNormGradient& op, llvm::ArrayRef<Tensor> operands) {
  const ElementType element = operands[0].type().element, vector = operands[1].type().element;
  ops::BatchNormSums sumsOf;
  sumsOf.axis = op.axis;
  sumsOf.relu = op.relu;
  llvm::SmallVector<Tensor, 4> summed = {operands[0], operands[2], operands[4]};
  summed.append(operands.begin() + 5, operands.end());
  const Sums sums(sumsOf, summed);
  ops::BatchNormGradientPass pass;
  pass.count = Channels(operands[0].shape(), op.axis).elements();
  pass.axis = op.axis;
  pass.epsilon = op.epsilon;
  pass.relu = op.relu;
  pass.addend = op.addend;
  std::vector<Tensor> read(operands.begin(), operands.begin() + 5);
  read.push_back(sums.all());
  read.insert(read.end(), operands.begin() + 5, operands.end());
  std::vector<Tensor> results = operands[0].builder()->multiOp(pass, read, std::source_location::current());
  const Tensor inverse = rsqrt(widened(operands[3]) + op.epsilon);
  results.insert(results.begin() + 1, {narrowed(sums.second(1, computed(element)) * inverse, vector),
                                       narrowed(sums.first(1, computed(element)), vector)});
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
