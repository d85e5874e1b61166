// softmaxCrossEntropy with smoothed targets, ignored labels and probabilities.
#include "ir/author/formulas/loss_parts.h"

#include "ir/graph/graph.h"

#include <fmt/format.h>

#include <limits>

namespace dfc {
namespace {

// The label's own logit or logarithm, a row each; NaN where the label names no class.
Tensor atLabel(Tensor rows, Tensor labels) {
  const Shape& shape = rows.shape();
  const int64_t classes = shape[shape.rank() - 1];
  const Tensor own = oneHot(labels, classes, -1, ElementType::Bool);
  const Tensor known = compare(labels, 0, Direction::Ge) & compare(labels, classes, Direction::Lt);
  return select(known, reduceSum(select(own, rows, 0), {-1}), std::numeric_limits<double>::quiet_NaN());
}

// The mean cross-entropy where no label is ignored: the op, plus the term of label smoothing.
Tensor meanOfLabels(Tensor logits, Tensor labels, double smoothing) {
  const Tensor loss = softmaxCrossEntropy(logits, labels);
  return smoothing == 0 ? loss
                        : loss + (reduceMean(atLabel(logits, labels)) - reduceMean(logits)) * smoothing;
}

// -logSoftmax by the smoothed target, a row each.
Tensor lossesOfRows(Tensor logits, Tensor targets, double smoothing) {
  const Tensor logs = logSoftmax(logits);
  const bool areLabels = !isFloat(targets.type().element);
  const Tensor own = areLabels ? atLabel(logs, targets) : reduceSum(targets * logs, {-1});
  return smoothing == 0 ? -own : own * (smoothing - 1) - reduceMean(logs, {-1}) * smoothing;
}

Tensor crossEntropyOf(Tensor logits, Tensor targets, const CrossEntropyOptions& options) {
  if (!options.ignored) {
    const bool isOp = !isFloat(targets.type().element) && options.reduction == LossReduction::Mean &&
                      targets.shape().rank() > 0;
    return isOp ? meanOfLabels(logits, targets, options.smoothing)
                : reducedLoss(lossesOfRows(logits, targets, options.smoothing), options.reduction);
  }
  const Tensor counts = compare(targets, static_cast<double>(*options.ignored), Direction::Ne);
  const Tensor rows = select(counts, lossesOfRows(logits, select(counts, targets, 0), options.smoothing), 0);
  return options.reduction == LossReduction::Mean
             ? reduceSum(rows) / max(reduceSum(cast(counts, rows.type().element)), 1)
             : reducedLoss(rows, options.reduction);
}

// What is wrong with the call: the message, or "".
std::string wrongTargets(const TensorType& logits, const TensorType& targets,
                         const CrossEntropyOptions& options) {
  const llvm::ArrayRef<int64_t> all = dimRange(logits.shape), given = dimRange(targets.shape);
  if (all.empty() || targets.element == ElementType::Bool || targets.element == ElementType::U8 ||
      given != (isFloat(targets.element) ? all : all.drop_back())) {
    return fmt::format("softmaxCrossEntropy of {} with targets of {}", toString(logits), toString(targets));
  }
  if (!(options.smoothing >= 0 && options.smoothing <= 1)) {
    return fmt::format("softmaxCrossEntropy with a smoothing of {}", options.smoothing);
  }
  return isFloat(targets.element) && options.ignored ? "softmaxCrossEntropy of probabilities ignores no label"
                                                     : "";
}

} // namespace

Tensor softmaxCrossEntropy(Operand logits, Operand targets, const CrossEntropyOptions& options) {
  Builder* const builder = lossBuilder(logits, targets);
  if (builder == nullptr) {
    return {};
  }
  const auto place = builder->at(builder->locate(logits.where()));
  const Tensor x = floatsOf(*builder, "softmaxCrossEntropy", logits);
  if (targets.tensor() == nullptr || targets.tensor()->builder() == nullptr) {
    builder->report(targets.where(), "softmaxCrossEntropy with a number or an empty Tensor as its targets",
                    "give a tensor of labels or of probabilities");
    return {builder, {}};
  }
  if (!x.valid() || !targets.tensor()->valid()) {
    return {builder, {}};
  }
  const Tensor y = isFloat(targets.tensor()->type().element) ? widened(*targets.tensor()) : *targets.tensor();
  if (const std::string wrong = wrongTargets(x.type(), y.type(), options); !wrong.empty()) {
    builder->report(logits.where(), wrong,
                    "logits are [..., classes]; targets are labels [...] of i32 or i64, or probabilities "
                    "[..., classes], of which none is ignored; a smoothing lies between 0 and 1");
    return {builder, {}};
  }
  return crossEntropyOf(x, y, options);
}

} // namespace dfc
