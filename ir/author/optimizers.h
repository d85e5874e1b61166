// Update rules as ordinary ops. Each appends the parameters' next values and their assigns; optimiser state
// is a parameter beside the weight, named after it ("w1.momentum"). Same scope and pin as the builder has at
// the call.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

namespace DFC_PUBLIC dfc {

/// w <- w - rate * g. Gives the new weights.
std::vector<Tensor> sgd(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                        double rate, std::source_location where = std::source_location::current());

/// v <- momentum * v + g;  w <- w - rate * v. (Polyak 1964, as PyTorch's SGD without dampening.)
std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             double rate, double momentum = 0.9,
                             std::source_location where = std::source_location::current());

/// The numbers of momentum().
struct MomentumOptions {
  double rate = 0.1;      ///< of a step
  double momentum = 0.9;  ///< decay of the velocity
  double weightDecay = 0; ///< the part of a weight that is added to its gradient: L2 regularisation
  Tensor onlyIf = {};     ///< bool[]: a step in which it is false changes no weight and no velocity
};
/// The same of g + weightDecay * w instead of g (as PyTorch's SGD with weight_decay).
std::vector<Tensor> momentum(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                             const MomentumOptions& options,
                             std::source_location where = std::source_location::current());

/// The numbers of adam().
struct AdamOptions {
  double rate = 1e-3;    ///< of a step
  double beta1 = 0.9;    ///< decay of the first moment, m
  double beta2 = 0.999;  ///< decay of the second moment, v
  double epsilon = 1e-8; ///< added to the root of v
  /// The part of a weight, times the rate, that a step takes off it, beside the gradient's: AdamW.
  double weightDecay = 0;
  Tensor onlyIf = {}; ///< bool[]: a step in which it is false changes no weight and no state
};
/// The gradients times min(1, most / norm), where norm is the root of the sum of the squares of all their
/// elements (Pascanu et al. 2013), in f32, or in f64 where a gradient is. `most` is above 0.
std::vector<Tensor> clipByGlobalNorm(const std::vector<Tensor>& gradients, double most,
                                     std::source_location where = std::source_location::current());

/// Adam with bias correction (Kingma and Ba 2015, algorithm 1) and decoupled weight decay (Loshchilov and
/// Hutter 2019). Keeps m, v and the powers of beta1 and beta2 as state.
std::vector<Tensor> adam(const std::vector<Tensor>& parameters, const std::vector<Tensor>& gradients,
                         const AdamOptions& options = {},
                         std::source_location where = std::source_location::current());

} // namespace dfc
