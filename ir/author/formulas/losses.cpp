// The losses of elements, of rows and of pairs: see losses.h for what each is.
#include "ir/author/losses.h"

#include "ir/author/formulas/loss_parts.h"

#include <fmt/format.h>

namespace dfc {
namespace {

/// A formula of predictions and targets, said to be written where the call is.
template <class Formula>
Tensor lossOf(std::string_view what, const Operand& predictions, const Operand& targets,
              LossReduction reduction, const Formula& formula) {
  Builder* const builder = lossBuilder(predictions, targets);
  if (builder == nullptr) {
    return {};
  }
  const auto place = builder->at(builder->locate(predictions.where()));
  const LossPair pair = lossPair(what, predictions, targets);
  return pair ? reducedLoss(formula(pair.predictions, pair.targets), reduction) : pair.none();
}

// Whether the number is one that the loss has; says so where it is not.
bool isAllowed(const Operand& at, const Operand& other, bool allowed, std::string_view what, double value,
               std::string_view hint) {
  Builder* const builder = lossBuilder(at, other);
  if (!allowed && builder != nullptr) {
    builder->report(at.where(), fmt::format("{} {}", what, value), std::string(hint));
  }
  return allowed;
}

Tensor poisonedLoss(const Operand& a, const Operand& b) {
  Builder* const builder = lossBuilder(a, b);
  return builder == nullptr ? Tensor() : Tensor(builder, {});
}

Tensor huberOf(Tensor a, Tensor b, double delta) {
  const Tensor error = abs(a - b), near = min(error, delta);
  return near * near * 0.5 + (error - near) * delta;
}

// x over its norm along `axis`. The sum of squares is bounded below, not its root, whose derivative at 0 is
// infinite.
Tensor ofUnitLength(Tensor x, int64_t axis, double epsilon) {
  return x * rsqrt(max(reduceSum(x * x, {axis}, true), epsilon * epsilon));
}

} // namespace

Tensor squaredError(Operand predictions, Operand targets, LossReduction reduction) {
  return lossOf("squaredError", predictions, targets, reduction, [](Tensor a, Tensor b) {
    const Tensor error = a - b;
    return error * error;
  });
}

Tensor absoluteError(Operand predictions, Operand targets, LossReduction reduction) {
  return lossOf("absoluteError", predictions, targets, reduction,
                [](Tensor a, Tensor b) { return abs(a - b); });
}

Tensor huberLoss(Operand predictions, Operand targets, double delta, LossReduction reduction) {
  if (!isAllowed(predictions, targets, delta > 0, "huberLoss with a delta of", delta,
                 "give a delta above 0; absoluteError is the limit")) {
    return poisonedLoss(predictions, targets);
  }
  return lossOf("huberLoss", predictions, targets, reduction,
                [&](Tensor a, Tensor b) { return huberOf(a, b, delta); });
}

Tensor smoothL1Loss(Operand predictions, Operand targets, double beta, LossReduction reduction) {
  if (!isAllowed(predictions, targets, beta >= 0, "smoothL1Loss with a beta of", beta,
                 "give a beta of 0 or more")) {
    return poisonedLoss(predictions, targets);
  }
  return lossOf("smoothL1Loss", predictions, targets, reduction, [&](Tensor a, Tensor b) {
    return beta == 0 ? abs(a - b) : huberOf(a, b, beta) * (1 / beta);
  });
}

// Both logarithms by softplus: max(x, 0) - x y + log1p(exp(-|x|)) would have a wrong derivative at 0.
Tensor sigmoidCrossEntropy(Operand logits, Operand targets, LossReduction reduction, Operand positiveWeight) {
  return lossOf("sigmoidCrossEntropy", logits, targets, reduction, [&](Tensor x, Tensor y) {
    const bool plain = positiveWeight.number() != nullptr && *positiveWeight.number() == 1;
    const Tensor weighed = plain ? y : y * positiveWeight;
    return weighed * softplus(-x) + (1 - y) * softplus(x);
  });
}

Tensor klDivergence(Operand logPredictions, Operand targets, LossReduction reduction) {
  return lossOf("klDivergence", logPredictions, targets, reduction, [](Tensor x, Tensor y) {
    const Tensor logTargets = log(select(compare(y, 0, Direction::Gt), y, 1));
    return reduceSum(y * (logTargets - x), {-1});
  });
}

Tensor cosineSimilarity(Operand a, Operand b, int64_t axis, double epsilon) {
  Builder* const builder = lossBuilder(a, b);
  if (builder == nullptr || !isAllowed(a, b, epsilon > 0, "cosineSimilarity with an epsilon of", epsilon,
                                       "give an epsilon above 0")) {
    return poisonedLoss(a, b);
  }
  const auto place = builder->at(builder->locate(a.where()));
  const Tensor x = floatsOf(*builder, "cosineSimilarity", a), y = floatsOf(*builder, "cosineSimilarity", b);
  return reduceSum(ofUnitLength(x, axis, epsilon) * ofUnitLength(y, axis, epsilon), {axis});
}

Tensor contrastiveLoss(Operand a, Operand b, Operand temperature) {
  Builder* const builder = lossBuilder(a, b);
  if (builder == nullptr) {
    return {};
  }
  const auto place = builder->at(builder->locate(a.where()));
  const LossPair pair = lossPair("contrastiveLoss", a, b);
  if (!pair) {
    return pair.none();
  }
  if (pair.targets.shape().rank() != 2) {
    builder->report(a.where(), fmt::format("contrastiveLoss of {}", toString(pair.predictions.type())),
                    "give two tensors of [n, width]");
    return pair.none();
  }
  const Tensor rows = ofUnitLength(pair.predictions, -1, 1e-8), others = ofUnitLength(pair.targets, -1, 1e-8);
  const Tensor logits = matmul(rows, others, {.b = true}) / temperature;
  const Tensor own = iota(*builder, i64({pair.targets.shape()[0]}));
  return (softmaxCrossEntropy(logits, own) + softmaxCrossEntropy(transpose(logits), own)) * 0.5;
}

} // namespace dfc
