// unfoldBatchNorms: batch norms in training, and their gradients, as sums and what follows from them. As one
// op they are never cut along the batch, over which their statistics go; unfolded, the sums are partial sums,
// and the statistics are those of the whole batch on any number of devices (as in synchronised batch norm).
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

/// The graph itself where it has none.
Graph unfoldBatchNorms(const Graph& graph);

} // namespace dfc
