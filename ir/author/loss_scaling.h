// Dynamic loss scaling, for training in f16: gradients below 6e-8 are 0 there, and gradients above 65504 are
// infinite. The loss is multiplied by a scale that is as large as the gradients bear, and the gradients are
// divided by it. A step whose gradients are not finite changes nothing but the scale. (Micikevicius et al.
// 2018, Mixed Precision Training; the rule of growth is PyTorch's GradScaler.)
//
//   LossScaling scaling(g);
//   const auto d = scaling.unscaled(gradients(scaling.scaled(loss), weights));
//   adam(weights, d, {.rate = 1e-3, .onlyIf = scaling.finite()});
//
// A plan that is compiled with the precision f16 does the same for every step that does not write it itself
// (the pass scale_losses): an author writes it to choose its numbers, or for tensors that are f16 by type.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

namespace DFC_PUBLIC dfc {

/// The numbers of LossScaling: GradScaler's, but for the bounds. GradScaler's scale has no least: in a long
/// run of steps that are not finite it falls to 0, by which nothing can be divided. A least of 1 is
/// DeepSpeed's; an author whose unscaled gradients leave f16's range may give less.
struct LossScalingOptions {
  double initial = 65536;  ///< scale of the first step
  double growth = 2;       ///< factor after `interval` steps whose gradients were finite; more than 1
  double backoff = 0.5;    ///< factor after a step whose gradients were not; between 0 and 1
  int64_t interval = 2000; ///< steps; at least 1
  double least = 1;        ///< no scale is smaller: see below; at least 2^-126, and no more than `initial`
  double most = 16777216;  ///< no scale is larger; a finite f32
};

/// The scale and the count of finite steps are parameters, "lossScale" and "lossScale.finiteSteps": a
/// checkpoint keeps them.
class LossScaling {
 public:
  /// Numbers out of range are reported at `where`.
  explicit LossScaling(Builder& g, const LossScalingOptions& options = {},
                       std::source_location where = std::source_location::current());
  /// The loss times the scale, to take gradients of.
  Tensor scaled(Tensor loss) const;
  /// Gradients of the scaled loss as those of the loss, in f32 or wider. Of all gradients of a step at once:
  /// assigns the next scale. Another call is reported.
  std::vector<Tensor> unscaled(const std::vector<Tensor>& gradients,
                               std::source_location where = std::source_location::current());
  /// Whether all gradients of this step are finite: bool[]. For the optimisers' option `onlyIf`; behind
  /// `unscaled`. Empty where there are none.
  Tensor finite();

  /// What `unscaled` does, one by one, for gradients of several calls in a step: each gradient divided by the
  /// scale; then each that `finite` is to ask for; then, once, behind all of them, the next scale.
  Tensor unscaledOne(Tensor gradient) const;
  /// Asks whether the gradient, divided by the scale and handed on in this type, is finite: of its largest
  /// magnitude alone, so that no unscaled gradient is kept for it. `finite` is asked for behind it.
  void watch(Tensor gradient, ElementType handedOn);
  void assignNext(std::source_location where = std::source_location::current()); ///< the next scale

 private:
  Builder* g_;
  LossScalingOptions options_;
  Tensor scale_, factor_, finite_; ///< factor_: 1 / scale
  std::vector<Tensor> unasked_;    ///< for each watched gradient that is not in finite_: whether it is finite
};

} // namespace dfc
