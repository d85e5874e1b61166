// The network of the benchmark mlp_training: Dense 2048 ReLU, Dense 512
// ReLU, Dense 1, L2 loss, one step of plain gradient descent on all six parameters.
#pragma once

#include "ir/graph/graph.h"

namespace dfc::test {

/// Feeds x f32[batch, 512] and y f32[batch, 1]; parameters w1, b1, … b3; fetches "loss", the mean of the
/// squared differences. Asserts batch >= 1.
Graph mlpNet(int64_t batch);

} // namespace dfc::test
