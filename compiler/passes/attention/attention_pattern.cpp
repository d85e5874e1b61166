// The match walks backwards from the last product to the first. It counts the uses of every intermediate
// value, so that a value with other uses is found at the end. "Leading axes" are all but the last two.
#include "compiler/passes/attention/attention_pattern.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <cmath>

namespace dfc {
namespace {

Shape withoutLastTwo(const Shape& shape) { return Shape(shape.dims().first(shape.rank() - 2)); }
Shape withLastTwo(const Shape& leading, int64_t rows, int64_t columns) {
  Dims dims(leading.dims().begin(), leading.dims().end());
  dims.push_back(rows);
  dims.push_back(columns);
  return Shape(std::span<const int64_t>(dims));
}
bool keepsLastTwo(const Shape& a, const Shape& b) {
  return a.rank() >= 2 && b.rank() >= 2 && a[a.rank() - 1] == b[b.rank() - 1] &&
         a[a.rank() - 2] == b[b.rank() - 2];
}

class Walk {
 public:
  Walk(const Graph& graph, AttentionMasks& masks, OpId product)
      : graph_(graph), masks_(masks), product_(product) {}

  std::optional<AttentionPattern> run() {
    const auto& last = rowOf(product_).as<ops::Matmul>();
    ValueId weights = rowOf(product_).operands[0];
    if (last.transposeA || graph_.typeOf(weights).shape.rank() < 2) {
      return std::nullopt;
    }
    weights = withoutZeros(passOver(weights));
    const std::optional<ValueId> scores = softmaxOperand(weights);
    const std::optional<OpId> first = scores ? firstProduct(*scores) : std::nullopt;
    if (!first || rowOf(*first).as<ops::Matmul>().precision != last.precision || !masksAgree()) {
      return std::nullopt;
    }
    pattern_.precision = last.precision;
    return std::isnormal(static_cast<float>(pattern_.scale)) && setOperands(*first)
               ? std::optional(std::move(pattern_))
               : std::nullopt;
  }

  const llvm::SmallDenseMap<ValueId, uint32_t, 16>& passed() const { return passed_; }

 private:
  const OpRow& rowOf(OpId op) const { return graph_[op]; }
  const OpRow& producerOf(ValueId value) const { return graph_[graph_[value].producer]; }
  const Shape& shapeOf(ValueId value) const { return graph_.typeOf(value).shape; }
  ElementType elementOf(ValueId value) const { return graph_.typeOf(value).element; }
  std::optional<double> number(ValueId value) { return masks_.constants().number(value); }

  // Counts one use of an intermediate value.
  ValueId read(ValueId value) {
    if (++passed_[value] == 1) {
      pattern_.intermediate.push_back(graph_[value].producer);
    }
    return value;
  }

  // Counts one use of `value`; returns the source of its casts and of its reshapes of batch and head axes.
  ValueId passOver(ValueId value) {
    read(value);
    for (;;) {
      const OpRow& row = producerOf(value);
      const bool casts = row.kind() == OpKind::Cast && isFloat(elementOf(row.operands[0]));
      const bool reshapes =
          row.kind() == OpKind::Reshape && keepsLastTwo(shapeOf(row.operands[0]), shapeOf(value));
      if (!casts && !reshapes) {
        return value;
      }
      value = read(row.operands[0]);
    }
  }

  // Skips a select that sets the weights of masked keys to 0, which the softmax makes them anyway.
  ValueId withoutZeros(ValueId weights) {
    const OpRow& row = producerOf(weights);
    if (row.kind() != OpKind::Select) {
      return weights;
    }
    const bool zeroLast = number(row.operands[2]) == 0.0, zeroFirst = number(row.operands[1]) == 0.0;
    const ValueId kept = zeroLast ? row.operands[1] : row.operands[2];
    if (zeroLast == zeroFirst || shapeOf(kept) != shapeOf(weights)) {
      return weights;
    }
    zeros_ = {row.operands[0], zeroLast};
    zerosLeading_ = withoutLastTwo(shapeOf(weights));
    return passOver(kept);
  }

  // The operand of a softmax over the last axis.
  std::optional<ValueId> softmaxOperand(ValueId weights) {
    const OpRow& row = producerOf(weights);
    const auto isLast = [&](int64_t axis) {
      return axis == -1 || axis == static_cast<int64_t>(shapeOf(weights).rank()) - 1;
    };
    if (const auto* softmax = row.getIf<ops::Softmax>()) {
      return isLast(softmax->axis) ? std::optional(passOver(row.operands[0])) : std::nullopt;
    }
    if (row.kind() == OpKind::Exp) {
      const OpRow& inner = producerOf(row.operands[0]);
      const auto* logSoftmax = inner.getIf<ops::LogSoftmax>();
      if (logSoftmax == nullptr || !isLast(logSoftmax->axis)) {
        return std::nullopt;
      }
      read(row.operands[0]);
      return passOver(inner.operands[0]);
    }
    if (row.kind() == OpKind::Div) {
      return shiftedOperand(row.operands[0], row.operands[1], shapeOf(weights));
    }
    if (row.kind() == OpKind::Mul) {
      for (const auto& [exponentials, factor] :
           {std::pair(row.operands[0], row.operands[1]), std::pair(row.operands[1], row.operands[0])}) {
        const OpRow& inverse = producerOf(factor);
        if (producerOf(exponentials).kind() == OpKind::Exp && inverse.kind() == OpKind::Reciprocal) {
          read(factor);
          return shiftedOperand(exponentials, inverse.operands[0], shapeOf(weights));
        }
      }
    }
    return std::nullopt;
  }

  // The x of exp(x - max(x)) / sum, or of exp(x) / sum. `weights`: the shape of the quotient.
  std::optional<ValueId> shiftedOperand(ValueId exponentials, ValueId sum, const Shape& weights) {
    const OpRow& row = producerOf(exponentials);
    if (row.kind() != OpKind::Exp || shapeOf(exponentials) != weights ||
        !reducesRows<ops::ReduceSum>(sum, exponentials)) {
      return std::nullopt;
    }
    read(exponentials);
    ValueId x = row.operands[0];
    const OpRow& difference = producerOf(x);
    if (difference.kind() == OpKind::Sub && shapeOf(difference.operands[0]) == shapeOf(x) &&
        reducesRows<ops::ReduceMax>(difference.operands[1], difference.operands[0])) {
      read(x);
      x = difference.operands[0];
    }
    return passOver(x);
  }

  // Whether `value` is a reduction of x over the last axis, broadcast along it; if so, counts the uses.
  template <class Reduction>
  bool reducesRows(ValueId value, ValueId x) {
    llvm::SmallVector<ValueId, 3> on = {value};
    if (producerOf(on.back()).kind() == OpKind::Broadcast) {
      on.push_back(producerOf(on.back()).operands[0]);
    }
    const Shape& shape = shapeOf(x);
    if (shape.rank() == 0) {
      return false;
    }
    const size_t last = shape.rank() - 1;
    Dims column(shape.dims().begin(), shape.dims().end());
    column[last] = 1;
    if (shapeOf(on.back()) != Shape(std::span<const int64_t>(column))) {
      return false;
    }
    if (producerOf(on.back()).kind() == OpKind::Reshape) {
      on.push_back(producerOf(on.back()).operands[0]);
    }
    const OpRow& row = producerOf(on.back());
    const auto* reduction = row.getIf<Reduction>();
    if (reduction == nullptr || row.operands[0] != x || reduction->axes.size() != 1 ||
        (reduction->axes[0] != -1 && reduction->axes[0] != static_cast<int64_t>(last))) {
      return false;
    }
    llvm::for_each(on, [&](ValueId one) { read(one); });
    read(x);
    return true;
  }

  // Through scales and masks to the product that makes the scores.
  std::optional<OpId> firstProduct(ValueId scores) {
    while (shapeOf(scores).rank() >= 2) {
      const OpRow& row = producerOf(scores);
      std::optional<ValueId> next;
      switch (row.kind()) {
      case OpKind::Matmul: return graph_[scores].producer;
      case OpKind::Mul:
      case OpKind::Div: next = scaledScores(row); break;
      case OpKind::Select: next = selectedScores(row, shapeOf(scores)); break;
      case OpKind::Add:
      case OpKind::Sub: next = addedScores(row, shapeOf(scores)); break;
      default: break;
      }
      if (!next || shapeOf(*next) != shapeOf(scores)) {
        return std::nullopt;
      }
      scores = passOver(*next);
    }
    return std::nullopt;
  }

  // The x of x * c, c * x or x / c; multiplies `scale` by the factor.
  std::optional<ValueId> factorOf(const OpRow& row, double& scale) {
    const bool divides = row.kind() == OpKind::Div;
    std::optional<double> factor = number(row.operands[1]);
    ValueId x = row.operands[0];
    if (!factor && !divides) {
      factor = number(row.operands[0]);
      x = row.operands[1];
    }
    const double times = !factor ? 0 : divides ? 1 / *factor : *factor;
    if (times == 0 || !std::isfinite(times)) {
      return std::nullopt;
    }
    scale *= times;
    return x;
  }
  // A scale that is applied after a mask also scales the mask's fill (see add).
  std::optional<ValueId> scaledScores(const OpRow& row) { return factorOf(row, pattern_.scale); }

  std::optional<ValueId> selectedScores(const OpRow& row, const Shape& scores) {
    const auto first = number(row.operands[1]), second = number(row.operands[2]);
    const bool seenWhere = second.has_value();
    const std::optional<double> fill = seenWhere ? second : first;
    if (!fill) {
      return std::nullopt;
    }
    KeyMask mask = masks_.ofCondition(row.operands[0], seenWhere, scores);
    mask.fill = *fill;
    return add(mask, scores) ? std::optional(row.operands[seenWhere ? 1 : 2]) : std::nullopt;
  }

  std::optional<ValueId> addedScores(const OpRow& row, const Shape& scores) {
    const bool subtracts = row.kind() == OpKind::Sub;
    ValueId x = row.operands[0];
    auto mask = masks_.ofTerm(row.operands[1], subtracts ? -1 : 1, scores);
    if (!mask && !subtracts) {
      x = row.operands[1];
      mask = masks_.ofTerm(row.operands[0], 1, scores);
    }
    return mask && add(*mask, scores) ? std::optional(x) : std::nullopt;
  }

  bool add(KeyMask mask, const Shape& scores) {
    mask.fill *= pattern_.scale;
    seen_.push_back(mask);
    if (mask.isOperand()) {
      const Shape leading = withoutLastTwo(scores);
      if (leading_ && *leading_ != leading) {
        return false;
      }
      leading_ = leading;
    }
    return AttentionMasks::isLow(mask.fill);
  }

  // Whether the fill values give masked keys a weight of 0, as the op `attention` does. -infinity always does
  // (a query without unmasked keys is NaN in the softmax and zeros in the op). Finite fill values do only if
  // every query has an unmasked key.
  bool masksAgree() {
    const bool allInfinite = llvm::all_of(seen_, [](const KeyMask& mask) { return std::isinf(mask.fill); });
    const bool allCausal = llvm::none_of(seen_, [](const KeyMask& mask) { return mask.isOperand(); });
    const bool alone = seen_.size() == 1 && seen_.front().everyQuerySees;
    if (!allInfinite && !allCausal && !alone) {
      return false;
    }
    for (const KeyMask& mask : seen_) {
      pattern_.causal |= mask.kind == KeyMask::Kind::Causal;
      if (mask.isOperand()) {
        pattern_.masks.push_back(mask);
      }
    }
    return zerosAreMasked();
  }

  bool zerosAreMasked() {
    if (!zeros_.first.valid()) {
      return true;
    }
    const KeyMask zeros =
        masks_.ofCondition(zeros_.first, zeros_.second, shapeOf(rowOf(product_).operands[0]));
    const bool sameLeading = !zeros.isOperand() || leading_ == zerosLeading_;
    return zeros.kind == KeyMask::Kind::Everything || llvm::any_of(seen_, [&](const KeyMask& mask) {
             return sameLeading && mask.kind == zeros.kind && mask.value == zeros.value;
           });
  }

  bool setOperands(OpId first) {
    const OpRow &scores = rowOf(first), &last = rowOf(product_);
    const auto &inner = scores.as<ops::Matmul>(), &outer = last.as<ops::Matmul>();
    pattern_.q = {scaledOperand(scores.operands[0]), inner.transposeA, {}};
    pattern_.k = {scaledOperand(scores.operands[1]), !inner.transposeB, {}};
    pattern_.v = {last.operands[1], outer.transposeB, {}};
    const Shape ofScores = withoutLastTwo(shapeOf(scores.firstResult)),
                ofWeights = withoutLastTwo(shapeOf(last.operands[0])),
                leading = leading_ ? *leading_ : ofScores;
    if (withoutLastTwo(shapeOf(last.firstResult)).elements() != leading.elements()) {
      return false; // the product broadcasts the weights
    }
    for (AttentionOperand* operand : {&pattern_.q, &pattern_.k, &pattern_.v}) {
      settleTranspose(*operand);
      operand->value = withoutWidening(operand->value, elementOf(last.firstResult));
      const Shape& product = operand == &pattern_.v ? ofWeights : ofScores;
      if (elementOf(operand->value) != elementOf(last.firstResult) ||
          !settleShape(*operand, leading, product)) {
        return false;
      }
    }
    shareRepeatedHeads(leading);
    return true;
  }

  ValueId scaledOperand(ValueId value) {
    const OpRow& row = producerOf(value);
    double scale = pattern_.scale;
    if (row.kind() == OpKind::Mul || row.kind() == OpKind::Div) {
      const auto x = factorOf(row, scale);
      if (x && graph_.typeOf(*x) == graph_.typeOf(value)) {
        pattern_.scale = scale;
        return *x;
      }
    }
    return value;
  }

  // The operand before a cast to a wider type: the op accumulates in f32 anyway.
  ValueId withoutWidening(ValueId value, ElementType element) const {
    const OpRow& row = producerOf(value);
    const bool widens = row.kind() == OpKind::Cast && elementOf(row.operands[0]) == element &&
                        isFloat(elementOf(value)) && byteWidth(element) < byteWidth(elementOf(value));
    return widens ? row.operands[0] : value;
  }

  // Replaces a transpose of the last two axes by the operand's flag.
  void settleTranspose(AttentionOperand& operand) const {
    const OpRow& row = producerOf(operand.value);
    if (const auto* transpose = row.getIf<ops::Transpose>()) {
      const auto rank = static_cast<int64_t>(shapeOf(operand.value).rank());
      Dims swapped(static_cast<size_t>(rank));
      for (int64_t axis = 0; axis < rank; ++axis) {
        swapped[static_cast<size_t>(axis)] = axis < rank - 2 ? axis : 2 * rank - 3 - axis;
      }
      if (transpose->permutation == swapped || (transpose->permutation.empty() && rank == 2)) {
        operand.value = row.operands[0];
        operand.transposed = !operand.transposed;
      }
    }
  }

  // Sets the operand's shape: the batch and head axes of the masked scores, or one head for all heads of q.
  // `product`: the batch and head axes of the operand's matrix product, without this operand's broadcast.
  bool settleShape(AttentionOperand& operand, const Shape& leading, const Shape& product) const {
    const Shape& shape = shapeOf(operand.value);
    const int64_t rows = shape[shape.rank() - (operand.transposed ? 1 : 2)],
                  columns = shape[shape.rank() - (operand.transposed ? 2 : 1)];
    const Shape own = withoutLastTwo(shape);
    Dims oneHead(leading.dims().begin(), leading.dims().end());
    if (!oneHead.empty()) {
      oneHead.back() = 1;
    }
    const Shape shared{std::span<const int64_t>(oneHead)};
    const bool isQ = &operand == &pattern_.q, isWhole = own.elements() == leading.elements();
    const bool isShared =
        (own == shared && product == leading) || (own.elements() == 1 && shared.elements() == 1);
    operand.shape = withLastTwo(isWhole ? leading : shared, rows, columns);
    return isWhole || (isShared && !isQ);
  }

  // Grouped-query attention: replaces repeated heads of k and v by the heads before the repetition.
  void shareRepeatedHeads(const Shape& leading) {
    const std::optional<AttentionOperand> k = beforeRepeat(pattern_.k, leading),
                                          v = beforeRepeat(pattern_.v, leading);
    if (k && v && k->shape[leading.rank() - 1] == v->shape[leading.rank() - 1]) {
      pattern_.k = *k;
      pattern_.v = *v;
    }
  }

  // reshape(broadcast([batch…, keyHeads, 1, rows, columns] to [batch…, keyHeads, group, rows, columns])).
  std::optional<AttentionOperand> beforeRepeat(const AttentionOperand& operand, const Shape& leading) const {
    const OpRow& reshape = producerOf(operand.value);
    if (reshape.kind() != OpKind::Reshape || leading.rank() == 0 ||
        withoutLastTwo(shapeOf(operand.value)) != leading) {
      return std::nullopt;
    }
    const ValueId repeated = reshape.operands[0];
    const OpRow& broadcast = producerOf(repeated);
    const Shape& to = shapeOf(repeated);
    if (broadcast.kind() != OpKind::Broadcast || to.rank() != leading.rank() + 3 ||
        !keepsLastTwo(to, shapeOf(operand.value))) {
      return std::nullopt;
    }
    const Shape& from = shapeOf(broadcast.operands[0]);
    Dims expected(to.dims().begin(), to.dims().end());
    expected[leading.rank()] = 1; // behind the batch axes and the heads of k
    if (!std::equal(expected.begin(), expected.end(), from.dims().begin(), from.dims().end())) {
      return std::nullopt;
    }
    Dims own(to.dims().begin(), to.dims().begin() + static_cast<std::ptrdiff_t>(leading.rank()));
    const int64_t rows = operand.shape[operand.shape.rank() - 2],
                  columns = operand.shape[operand.shape.rank() - 1];
    return AttentionOperand{broadcast.operands[0], operand.transposed,
                            withLastTwo(Shape(std::span<const int64_t>(own)), rows, columns)};
  }

  const Graph& graph_;
  AttentionMasks& masks_;
  const OpId product_;
  AttentionPattern pattern_;
  llvm::SmallDenseMap<ValueId, uint32_t, 16> passed_; // the uses of intermediate values
  llvm::SmallVector<KeyMask, 3> seen_;
  std::optional<Shape> leading_; // of the scores where masks were applied
  Shape zerosLeading_;
  std::pair<ValueId, bool>
      zeros_; // the condition of a select that zeroes weights, and its value where they are kept
};

} // namespace

AttentionMatcher::AttentionMatcher(const Graph& graph, llvm::function_ref<bool(OpId)> isWrittenAnew)
    : graph_(graph), uses_(graph.valueCount()), masks_(graph) {
  for (const OpId op : graph.ops()) {
    for (const ValueId operand : graph[op].operands) {
      uses_[operand] += isWrittenAnew(op) ? 0 : 1;
    }
  }
  for (const Fetch& fetch : graph.fetches()) {
    ++uses_[fetch.value];
  }
  for (const GradientRecord& record : graph.gradientRecords()) {
    for (const ValueId x : record.wrt) {
      ++uses_[x];
    }
  }
}

std::optional<AttentionPattern> AttentionMatcher::match(OpId product) {
  Walk walk(graph_, masks_, product);
  std::optional<AttentionPattern> pattern = walk.run();
  const auto isShared = [&](const auto& passed) {
    return uses_[passed.first] != passed.second ||
           graph_[graph_[passed.first].producer].pin != graph_[product].pin;
  };
  return pattern && llvm::none_of(walk.passed(), isShared) ? std::move(pattern) : std::nullopt;
}

} // namespace dfc
