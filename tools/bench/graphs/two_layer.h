// A training step of a two-layer MLP over a CPU, which holds the parameters, and two GPUs with half of the
// batch each: the graph of samples/04_graph_file/figure.dfg without its loss, for any device names.
#pragma once

#include "ir/author/builder.h"

#include <array>

namespace dfc::bench {

struct TwoLayerSpec {
  std::string owner = "cpu0"; ///< holds, sums and updates
  std::array<std::string, 2> workers = {"gpu0", "gpu1"};
  static constexpr int64_t batch = 128, pixels = 784, hidden = 256, classes = 10;
};

/// Feeds images f32[batch, pixels] and labels i64[batch]; parameters w1, w2 and rate; no fetch. Scopes
/// "next_batch", "fc1 forward", "fc2 forward", "loss", "fc1 sum", "fc1 update", "fc2 sum", "fc2 update", and
/// those of the gradients.
Result<Graph> trainingStep(const TwoLayerSpec& spec);

} // namespace dfc::bench
