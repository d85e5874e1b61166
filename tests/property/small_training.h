// Small graphs and machines whose plans can be enumerated: products, elementwise ops, reductions, softmax and
// norms over tensors large enough that cutting them sometimes pays, some with an update of a parameter; two
// or three devices, alike and unlike, links fast and slow.
#pragma once

#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

#include <cstdint>

namespace dfc::test {

/// About `ops` ops that compute, before passes join or drop some. The same arguments give the same graph.
Graph smallTraining(uint64_t seed, int64_t ops);

/// The same seed gives the same machine.
Machine smallCluster(uint64_t seed);

} // namespace dfc::test
