// Update rules as ordinary ops. Each appends the parameters' next values and their assigns; optimiser state
// is a parameter beside the weight, named after it ("w1.momentum"). Same scope and pin as the builder has at
// the call. A rate is a number or a scalar of the graph: an input that is fed, or a schedule
// (dfc/schedules.h).
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

#include <string>
#include <vector>

namespace DFC_PUBLIC dfc {

/// w <- w - rate * g. Gives the new weights.
std::vector<Tensor> sgd(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                        Operand rate, std::source_location where = std::source_location::current());

/// v <- momentum * v + g;  w <- w - rate * v. (Polyak 1964, as PyTorch's SGD without dampening.)
std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             Operand rate, double momentum = 0.9,
                             std::source_location where = std::source_location::current());

/// The numbers of momentum().
struct MomentumOptions {
  Operand rate = 0.1;     ///< of a step
  double momentum = 0.9;  ///< decay of the velocity
  double weightDecay = 0; ///< the part of a weight that is added to its gradient: L2 regularisation
  bool nesterov = false;  ///< w <- w - rate * (g + momentum * v), with the new v (Sutskever et al. 2013)
  std::vector<std::string> noDecay = {}; ///< patterns of names ("*.bias") without weight decay
  Tensor onlyIf = {}; ///< bool[]: a step in which it is false changes no weight and no velocity
};
/// The same of g + weightDecay * w instead of g (as PyTorch's SGD with weight_decay).
std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             const MomentumOptions& options,
                             std::source_location where = std::source_location::current());

/// The numbers of adam().
struct AdamOptions {
  Operand rate = 1e-3;   ///< of a step
  double beta1 = 0.9;    ///< decay of the first moment, m
  double beta2 = 0.999;  ///< decay of the second moment, v
  double epsilon = 1e-8; ///< added to the root of v
  /// The part of a weight, times the rate, that a step takes off it, beside the gradient's: AdamW.
  double weightDecay = 0;
  std::vector<std::string> noDecay = {}; ///< patterns of names ("*.bias") without weight decay
  Tensor onlyIf = {}; ///< bool[]: a step in which it is false changes no weight and no state
};
/// The gradients times min(1, most / norm), where norm is the root of the sum of the squares of all their
/// elements (Pascanu et al. 2013), in f32, or in f64 where a gradient is. `most` is above 0.
std::vector<Tensor> clipByGlobalNorm(const std::vector<Tensor>& gradients, Operand most,
                                     std::source_location where = std::source_location::current());

/// Adam with bias correction (Kingma and Ba 2015, algorithm 1) and decoupled weight decay (Loshchilov and
/// Hutter 2019). Keeps m, v and the powers of beta1 and beta2 as state.
std::vector<Tensor> adam(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                         const AdamOptions& options = {},
                         std::source_location where = std::source_location::current());

/// The numbers of lion().
struct LionOptions {
  Operand rate = 1e-4;                   ///< of a step: a third to a tenth of Adam's
  double beta1 = 0.9;                    ///< of the first moment in the direction
  double beta2 = 0.99;                   ///< decay of the first moment, m
  double weightDecay = 0;                ///< the part of a weight, times the rate, that a step takes off it
  std::vector<std::string> noDecay = {}; ///< patterns of names ("*.bias") without weight decay
  Tensor onlyIf = {}; ///< bool[]: a step in which it is false changes no weight and no state
};
/// w <- w - rate * (sign(beta1 m + (1 - beta1) g) + weightDecay * w);  m <- beta2 m + (1 - beta2) g.
/// (Chen et al. 2023, Symbolic Discovery of Optimization Algorithms.)
std::vector<Tensor> lion(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                         const LionOptions& options = {},
                         std::source_location where = std::source_location::current());

/// The numbers of adafactor().
struct AdafactorOptions {
  /// Of a step, relative to the root mean square of the weight where `scaleByParameter`.
  Operand rate = 1e-2;
  double decayExponent = 0.8;            ///< the second moment's decay at step t is 1 - t^-decayExponent
  double epsilon1 = 1e-30;               ///< added to the square of a gradient
  double epsilon2 = 1e-3;                ///< the least root mean square that a weight counts with
  double clip = 1;                       ///< the largest root mean square of an update, before the rate
  bool scaleByParameter = true;          ///< whether the rate is relative
  double weightDecay = 0;                ///< the part of a weight, times the rate, that a step takes off it
  std::vector<std::string> noDecay = {}; ///< patterns of names ("*.bias") without weight decay
  Tensor onlyIf = {}; ///< bool[]: a step in which it is false changes no weight and no state
};
/// Adafactor without momentum (Shazeer and Stern 2018, algorithm 4): of a weight of two axes or more, the
/// second moment is kept as the means over its last axis and over the one before, so the state is as long as
/// the edges; of others it is kept whole.
std::vector<Tensor> adafactor(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                              const AdafactorOptions& options = {},
                              std::source_location where = std::source_location::current());

/// Gradients of several steps as one step of an optimiser.
struct Accumulated {
  std::vector<Tensor> gradients; ///< means over the steps so far since the last update
  Tensor ready;                  ///< bool[]: this step is the last of them; for the optimisers' `onlyIf`
};
/// Sums gradients in "<w>.gradientSum" and begins anew behind every `steps`-th step:
///
///   const Accumulated mean = accumulateGradients(weights, gradients(loss, weights), 4);
///   adam(weights, mean.gradients, {.rate = 1e-3, .onlyIf = mean.ready});
///
/// A batch of 4 n rows is then 4 steps of n. Batch norms see n rows.
Accumulated accumulateGradients(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                                int64_t steps, std::source_location where = std::source_location::current());

/// Moving averages of parameters (Polyak and Juditsky 1992), which often generalise better: "<w>.average" is
/// decay * average + (1 - decay) * w. `next`: what the optimiser gave. Step t (from 1) takes the smaller of
/// `decay` and (t - 1) / t, so that the first steps are a plain mean and the beginning has no weight of its
/// own.
std::vector<Tensor> movingAverages(const std::vector<Tensor>& parameters, const std::vector<Tensor>& next,
                                   double decay = 0.999,
                                   std::source_location where = std::source_location::current());

} // namespace dfc
