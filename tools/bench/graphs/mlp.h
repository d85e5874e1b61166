// A training step of the MLP: Dense 2048 with ReLU, Dense 512 with ReLU, Dense 1, loss mean((p - y)^2), SGD.
// The batch is a parameter of the device that computes its gradients: no copies feed a step.
#pragma once

#include "ir/author/collectives.h"

namespace dfc::bench {

struct MlpSpec {
  int64_t batch = 64; ///< of all devices together, divided evenly
  int64_t inputs = 512, first = 2048, second = 512;
  double rate = 1e-3;
  ElementType element = ElementType::F32;
  /// The devices that compute gradients, each of its part of the batch.
  std::vector<std::string> workers = {"gpu0"};
  /// The device that holds the parameters and sums the gradients; the parameters are copied to the workers
  /// each step. "": each worker has a replica of the parameters and receives the gradients of the others.
  std::string owner = "gpu0";
  /// The all-reduce of workers with replicas.
  AllReduce reduction = AllReduce::Exchange;
};

/// Scopes, where the owner is no worker: "fc1 forward", "fc1 backward", …, "loss",
/// "fc1 sum", "fc1 update". A scope is a fusion boundary, so the other graphs have none. Parameters:
/// w1 b1 w2 b2 w3 b3 (with "@worker" behind them where each has its own), x0 y0 x1 y1.
Result<Graph> trainingStep(const MlpSpec& spec);

/// Floating-point operations of the products of one step: 2 for each weight and sample, in the forward pass,
/// for the gradient of the weights and, except in the first layer, of the activations.
double productFlops(const MlpSpec& spec);

} // namespace dfc::bench
