// B3's net as one training step: Dense 2048 with ReLU, Dense 512 with ReLU, Dense 1, loss mean((p - y)^2),
// SGD. The batch is a parameter of the device that works on it: nothing crosses the bus to feed a step.
#pragma once

#include "ir/author/collectives.h"

namespace dfc::bench {

struct NetSpec {
  int64_t batch = 64; ///< of all devices together, divided evenly
  int64_t inputs = 512, first = 2048, second = 512;
  double rate = 1e-3;
  ElementType element = ElementType::F32;
  /// Who computes gradients, each of its part of the batch.
  std::vector<std::string> workers = {"gpu0"};
  /// Who sums gradients and has the weights, which dfc copies to the workers each step. "" means that each
  /// worker does so for itself: it has weights of its own and gets the others' gradients.
  std::string owner = "gpu0";
  /// How workers with weights of their own get the sums.
  AllReduce reduction = AllReduce::Exchange;
};

/// Scopes, where the owner does no other work (the figure): "fc1 forward", "fc1 backward", …, "loss",
/// "fc1 sum", "fc1 update". A scope is a fusion boundary, so that a net of GPUs alone has none. Parameters:
/// w1 b1 w2 b2 w3 b3 (with "@worker" behind them where each has its own), x0 y0 x1 y1.
Result<Graph> trainingStep(const NetSpec& spec);

/// Operations of the products of one step: 2 for each weight and sample, forward, to the weights and, except
/// in the first layer, to the activations.
double productFlops(const NetSpec& spec);

} // namespace dfc::bench
