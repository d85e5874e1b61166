// Losses that models are trained with.
#include "ir/author/losses.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/op.h"

#include <fmt/format.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Word = std::string;

LossReduction reductionOf(const Word& word) {
  if (word == "mean" || word == "sum" || word == "none") {
    return word == "mean" ? LossReduction::Mean : word == "sum" ? LossReduction::Sum : LossReduction::None;
  }
  throw nb::value_error(fmt::format("reduction '{}' is none of 'mean', 'sum' and 'none'", word).c_str());
}

void bindErrorsOfElements(nb::module_& module) {
  bindOp(
      module, "squared_error",
      [](Operand a, Operand b, const Word& reduction) { return squaredError(a, b, reductionOf(reduction)); },
      "predictions"_a, "targets"_a, nb::kw_only(), "reduction"_a = "mean",
      "(predictions - targets)^2: the mean squared error, or with reduction 'sum' or 'none' the sum or one "
      "for "
      "each element. Both have one shape, or the targets are a number or a scalar.");
  bindOp(
      module, "absolute_error",
      [](Operand a, Operand b, const Word& reduction) { return absoluteError(a, b, reductionOf(reduction)); },
      "predictions"_a, "targets"_a, nb::kw_only(), "reduction"_a = "mean",
      "|predictions - targets|: the L1 loss. reduction: of squared_error.");
  bindOp(
      module, "huber_loss",
      [](Operand a, Operand b, double delta, const Word& reduction) {
        return huberLoss(a, b, delta, reductionOf(reduction));
      },
      "predictions"_a, "targets"_a, nb::kw_only(), "delta"_a = 1.0, "reduction"_a = "mean",
      "error^2 / 2 up to an error of `delta`, delta * (|error| - delta / 2) beyond (Huber 1964). reduction: "
      "of "
      "squared_error.");
  bindOp(
      module, "smooth_l1_loss",
      [](Operand a, Operand b, double beta, const Word& reduction) {
        return smoothL1Loss(a, b, beta, reductionOf(reduction));
      },
      "predictions"_a, "targets"_a, nb::kw_only(), "beta"_a = 1.0, "reduction"_a = "mean",
      "huber_loss / beta with delta = beta; with beta = 0 absolute_error. reduction: of squared_error.");
}

void bindClassification(nb::module_& module) {
  bindOp(
      module, "sigmoid_cross_entropy",
      [](Operand logits, Operand targets, const Word& reduction, Operand positiveWeight) {
        return sigmoidCrossEntropy(logits, targets, reductionOf(reduction), positiveWeight);
      },
      "logits"_a, "targets"_a, nb::kw_only(), "reduction"_a = "mean", "positive_weight"_a = 1.0,
      "The binary cross-entropy of sigmoid(logits), without overflow. targets: probabilities, or bools or "
      "integers that are 0 or 1. positive_weight: of targets that are 1, a number or a tensor that "
      "broadcasts "
      "to the logits. reduction: of squared_error.");
  bindOp(
      module, "softmax_cross_entropy",
      [](Operand logits, Operand labels, bool inF32, double smoothing, std::optional<int64_t> ignored,
         const Word& reduction) {
        const LossReduction reduced = reductionOf(reduction);
        const bool areLabels = labels.tensor() == nullptr || !labels.tensor()->valid() ||
                               !isFloat(labels.tensor()->type().element);
        if (areLabels && smoothing == 0 && !ignored && reduced == LossReduction::Mean) {
          return softmaxCrossEntropy(logits, labels, inF32 ? LossType::F32 : LossType::Unstated);
        }
        return softmaxCrossEntropy(logits, labels,
                                   {.smoothing = smoothing, .ignored = ignored, .reduction = reduced});
      },
      "logits"_a, "labels"_a, nb::kw_only(), "in_float32"_a = false, "label_smoothing"_a = 0.0,
      "ignore_index"_a = nb::none(), "reduction"_a = "mean",
      "The mean over rows of -log_softmax(logits)[row, label], a scalar. logits: [n, classes] of a float; "
      "labels: [n] of int32 or int64; one outside of [0, classes) gives NaN, and is refused in what a "
      "session "
      "is fed. Several axes of rows, [batch, length, classes] and [batch, length], are joined. labels may be "
      "probabilities [n, classes] instead. in_float32: the loss of 16-bit logits is float32, which it is "
      "anyway with one of the other options. label_smoothing: the share of each target that is spread evenly "
      "over all classes. ignore_index: rows of this label do not count. reduction: of squared_error, over "
      "rows.");
}

void bindDistances(nb::module_& module) {
  bindOp(
      module, "kl_divergence",
      [](Operand logPredictions, Operand targets, const Word& reduction) {
        return klDivergence(logPredictions, targets, reductionOf(reduction));
      },
      "log_predictions"_a, "targets"_a, nb::kw_only(), "reduction"_a = "mean",
      "Of each row along the last axis the sum of targets * (log targets - log_predictions); a target of 0 "
      "adds 0. log_predictions: such as log_softmax gives. reduction: of squared_error, over rows.");
  bindOp(
      module, "cosine_similarity",
      [](Operand a, Operand b, int64_t axis, double epsilon) {
        return cosineSimilarity(a, b, axis, epsilon);
      },
      "a"_a, "b"_a, "axis"_a = -1, "epsilon"_a = 1e-8,
      "Along `axis`, which goes, the product of a and b over that of their norms, each at least `epsilon`; a "
      "and b broadcast.");
  bindOp(
      module, "contrastive_loss",
      [](Operand a, Operand b, Operand temperature) { return contrastiveLoss(a, b, temperature); }, "a"_a,
      "b"_a, "temperature"_a = 0.07,
      "Rows of a and b [n, width] that belong together, told from all other pairs: the mean of "
      "softmax_cross_entropy over rows and over columns of cosine similarities / temperature (CLIP, Radford "
      "et al. 2021).");
}

} // namespace

void bindLosses(nb::module_& module) {
  bindErrorsOfElements(module);
  bindClassification(module);
  bindDistances(module);
}

} // namespace dfc::python
