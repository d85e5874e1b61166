// Attention and its gradient as products and a softmax, as deep learning frameworks spell them. The scores
// are written to memory; in f16 and bf16 they are rounded to that type. Both decompositions compute the
// weights by the same ops, so that a graph with both computes them once (share_common_ops). Other layouts are
// taken apart into that of heads first, by slices and transposes.
#include "ir/author/attention_axes.h"
#include "ir/author/decompositions.h"
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/graph/rules/attention_shape.h"

#include <llvm/ADT/STLExtras.h>

#include <limits>

namespace dfc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// bool[queries, keys]: whether the key stands at the query's place or before it.
Tensor causalMask(Builder& builder, const AttentionShape& shape) {
  ops::Iota rows;
  rows.type = i64({shape.queries, 1});
  rows.start = shape.start;
  const Tensor query = builder.op(rows, {}, std::source_location::current()),
               key = iota(builder, i64({1, shape.keys}), 1);
  return compare(key, query, Direction::Le);
}

// One attention's shape and mask, and the products that its formulas are made of.
class Formula {
 public:
  Formula(const ops::Attention& op, llvm::ArrayRef<Tensor> operands, bool masked)
      : builder_(*operands[0].builder()), shape_(shapeOf(op, operands)), precision_(op.precision),
        scale_(op.scaleFor(shape_.width)) {
    if (op.causal) {
      visible_ = causalMask(builder_, shape_);
    }
    if (masked) {
      visible_ = visible_.valid() ? operands.back() & visible_ : operands.back();
    }
    everyRowSees_ = !masked && shape_.keys > 0;
  }

  const AttentionShape& shape() const { return shape_; }
  // A query's rows of all heads that share keys, one after the other: [batch…, keyHeads, group * rows,
  // columns].
  Tensor grouped(Tensor x) const {
    const Shape& now = x.shape();
    return shape_.group() == 1
               ? x
               : reshapedTo(x, shape_.withHeads(shape_.keyHeads, {shape_.group() * rows(now), columns(now)}));
  }
  Tensor ungrouped(Tensor x) const {
    const Shape& now = x.shape();
    return shape_.group() == 1
               ? x
               : reshapedTo(x, shape_.withHeads(shape_.heads, {rows(now) / shape_.group(), columns(now)}));
  }
  // a bᵀ for rows of queries and of keys, which gives scores; a b for scores and rows of keys; aᵀ b for
  // scores and rows of queries, summed over the heads that share keys.
  Tensor overWidth(Tensor a, Tensor b) const { return ungrouped(product(grouped(a), b, false, true)); }
  Tensor overKeys(Tensor a, Tensor b) const { return ungrouped(product(grouped(a), b, false, false)); }
  Tensor overQueries(Tensor a, Tensor b) const { return product(grouped(a), grouped(b), true, false); }

  // The scale is applied to q, so that scores in f16 overflow no earlier than they must.
  Tensor scaled(Tensor q) const { return q * scale_; }
  Tensor scores(Tensor q, Tensor k) const {
    const Tensor all = overWidth(scaled(q), k);
    return visible_.valid() ? select(visible_, all, -infinity) : all;
  }
  // A row of a softmax that sees no key is NaN, which the mask makes 0.
  Tensor weights(Tensor seen) const {
    const Tensor w = softmax(seen, -1);
    return everyRowSees_ || !visible_.valid() ? w : select(visible_, w, 0);
  }

 private:
  static AttentionShape shapeOf(const ops::Attention& op, llvm::ArrayRef<Tensor> operands) {
    return knownAttentionShape(op, {operands[0].type(), operands[1].type(), operands[2].type()});
  }
  static int64_t rows(const Shape& shape) { return shape[shape.rank() - 2]; }
  static int64_t columns(const Shape& shape) { return shape[shape.rank() - 1]; }
  Tensor product(Tensor a, Tensor b, bool transposeA, bool transposeB) const {
    Transposes transposed;
    transposed.a = transposeA;
    transposed.b = transposeB;
    return matmul(a, b, transposed, precision_);
  }

  Builder& builder_;
  AttentionShape shape_;
  Precision precision_;
  double scale_;
  Tensor visible_; // where a query may see a key; empty: everywhere
  bool everyRowSees_;
};

// log(sum(exp(x))) over the last axis; -infinity for a row of -infinity and for one of no elements.
Tensor logSumExp(Tensor x) {
  const Shape rows(dimRange(x.shape()).drop_back(1));
  if (x.shape()[rows.rank()] == 0) {
    const Tensor none = x.builder()->scalar(x.type().element, -infinity);
    return broadcast(none, Dims(rows.dims().begin(), rows.dims().end()));
  }
  const Tensor largest = reduceMax(x, {-1}, true);
  const Tensor sum = log(reduceSum(exp(x - largest), {-1}, true)) + largest;
  const Tensor safe = select(compare(largest, -infinity, Direction::Eq), -infinity, sum);
  return reshapedTo(safe, rows);
}

ops::Attention headsFirst(ops::Attention op) {
  op.layout = AttentionLayout::Heads;
  op.keyHeads = 0;
  return op;
}

// q, k and v heads first.
std::vector<Tensor> factorsHeadsFirst(const ops::Attention& op, llvm::ArrayRef<Tensor> operands) {
  std::vector<Tensor> factors(operands.begin(), operands.begin() + 3);
  if (op.layout == AttentionLayout::Packed) {
    const auto axis = static_cast<int64_t>(operands[0].shape().rank()) - 2;
    const int64_t heads = operands[0].shape()[static_cast<size_t>(axis)] - 2 * op.keyHeads;
    const std::vector<Tensor> q = split(operands[0], {heads, op.keyHeads, op.keyHeads}, axis),
                              k = split(operands[1], {heads, op.keyHeads, op.keyHeads}, axis),
                              v = split(operands[2], {heads, op.keyHeads, op.keyHeads}, axis);
    factors = {q[0], k[1], v[2]};
  }
  llvm::transform(factors, factors.begin(), rowsAndHeads);
  return factors;
}

} // namespace

std::vector<Tensor> decomposition(const ops::Attention& op, llvm::ArrayRef<Tensor> operands) {
  if (op.layout != AttentionLayout::Heads) {
    std::vector<Tensor> own = factorsHeadsFirst(op, operands);
    own.insert(own.end(), operands.begin() + 3, operands.end());
    const std::vector<Tensor> results = decomposition(headsFirst(op), own);
    return {rowsAndHeads(results[0]), statisticsOfHeads(results[1])};
  }
  const Formula formula(op, operands, operands.size() == 4);
  const Tensor scores = formula.scores(operands[0], operands[1]);
  return {formula.overKeys(formula.weights(scores), operands[2]), logSumExp(widened(scores))};
}

// The derivative of softmax: w (dw - the sum of w dw over a row), and that sum is delta.
std::vector<Tensor> decomposition(const ops::AttentionGradient& op, llvm::ArrayRef<Tensor> operands) {
  if (op.forward.layout != AttentionLayout::Heads) {
    std::vector<Tensor> own = factorsHeadsFirst(op.forward, operands);
    own.push_back(rowsAndHeads(operands[3]));
    own.push_back(statisticsOfHeads(operands[4]));
    own.push_back(statisticsOfHeads(operands[5]));
    own.insert(own.end(), operands.begin() + 6, operands.end());
    std::vector<Tensor> results = decomposition(ops::AttentionGradient{{}, headsFirst(op.forward)}, own);
    llvm::transform(results, results.begin(), rowsAndHeads);
    return op.forward.layout == AttentionLayout::Packed
               ? std::vector<Tensor>{concat(results, static_cast<int64_t>(results[0].shape().rank()) - 2)}
               : results;
  }
  const Formula formula(op.forward, operands, operands.size() == 7);
  const Tensor &q = operands[0], &k = operands[1], &v = operands[2], &cotangent = operands[3],
               &delta = operands[5];
  const ElementType element = q.type().element;
  const Tensor weights = formula.weights(formula.scores(q, k));
  const Tensor ofWeights = formula.overWidth(cotangent, v);
  const Tensor rowSums =
      reshapedTo(delta, formula.shape().withHeads(formula.shape().heads, {formula.shape().queries, 1}));
  const Tensor ofScores = narrowed(widened(weights) * (widened(ofWeights) - rowSums), element);
  return {formula.scaled(formula.overKeys(ofScores, k)), formula.overQueries(ofScores, formula.scaled(q)),
          formula.overQueries(weights, cotangent)};
}

} // namespace dfc
