// Losses that models are trained with, as formulas of ordinary ops: differentiated, fused and placed like any
// other. f16 and bf16 are computed in f32, which the loss then is. Predictions and targets have one shape: a
// pair that merely broadcasts ([n, 1] and [n]) is refused, as it would compare all with all. A number or a
// scalar may stand for all targets. Targets that are computed (a teacher's) get gradients, too, but for
// stopGradient.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

#include <optional>

namespace DFC_PUBLIC dfc {

/// What becomes of the losses of single elements or rows.
enum class LossReduction : uint8_t {
  Mean, ///< their mean, a scalar
  Sum,  ///< their sum, a scalar
  None, ///< they stay
};

/// (predictions - targets)^2, element by element: the mean squared error.
Tensor squaredError(Operand predictions, Operand targets, LossReduction reduction = LossReduction::Mean);
/// |predictions - targets|, element by element: the L1 loss. The derivative of no error is 0.
Tensor absoluteError(Operand predictions, Operand targets, LossReduction reduction = LossReduction::Mean);
/// error^2 / 2 up to an error of `delta`, delta * (|error| - delta / 2) beyond (Huber 1964). delta > 0.
Tensor huberLoss(Operand predictions, Operand targets, double delta = 1,
                 LossReduction reduction = LossReduction::Mean);
/// huberLoss / beta with delta = beta; with beta = 0 absoluteError.
Tensor smoothL1Loss(Operand predictions, Operand targets, double beta = 1,
                    LossReduction reduction = LossReduction::Mean);
/// The binary cross-entropy of sigmoid(logits), without overflow: -log sigmoid(logit) where the target is 1,
/// -log sigmoid(-logit) where it is 0. targets: probabilities, or bools or integers that are 0 or 1.
/// `positiveWeight` multiplies the first of the two: a number, or a tensor that broadcasts to the logits.
Tensor sigmoidCrossEntropy(Operand logits, Operand targets, LossReduction reduction = LossReduction::Mean,
                           Operand positiveWeight = 1);
/// Of each row along the last axis the divergence of Kullback and Leibler, the sum of targets *
/// (log targets - logPredictions); a target of 0 adds 0. logPredictions: such as logSoftmax gives; targets:
/// probabilities. The mean is that of rows.
Tensor klDivergence(Operand logPredictions, Operand targets, LossReduction reduction = LossReduction::Mean);
/// Along `axis`, which goes, the product of a and b over that of their norms, each at least `epsilon`; a and
/// b broadcast.
Tensor cosineSimilarity(Operand a, Operand b, int64_t axis = -1, double epsilon = 1e-8);
/// Rows of a and b [n, width] that belong together, told from all other pairs: the mean of
/// softmaxCrossEntropy over rows and over columns of cosine similarities / temperature (CLIP, Radford et al.
/// 2021). temperature: a number or a scalar.
Tensor contrastiveLoss(Operand a, Operand b, Operand temperature = 0.07);

/// How softmaxCrossEntropy counts.
struct CrossEntropyOptions {
  double smoothing = 0;                ///< share of each target that is spread evenly over all classes
  std::optional<int64_t> ignored = {}; ///< rows of this label do not count; of no other row the mean is 0
  LossReduction reduction = LossReduction::Mean; ///< of rows
};
/// Of each row -logSoftmax(logits) at its label, or, weighed, at all classes. logits: [..., classes];
/// targets: labels [...] of i32 or i64, or probabilities [..., classes]. A label outside of [0, classes) that
/// is not ignored gives NaN. With no option but the mean of labels it is the op softmaxCrossEntropy.
Tensor softmaxCrossEntropy(Operand logits, Operand targets, const CrossEntropyOptions& options);

} // namespace dfc
