// A graph split at random over the GPUs of a machine: any split that the rules allow.
#pragma once

#include "ir/machine/machine.h"
#include "tests/support/random_graph.h"

namespace dfc::test {

/// Over the first `size` GPUs, gpu0 and on, with unequal shares of the work.
Graph randomSplit(const Graph& graph, const Machine& machine, size_t size, Dice& dice);

/// Over `groups` groups of `width` GPUs: gpu0 and on, and within each group once more.
Graph randomGrid(const Graph& graph, const Machine& machine, size_t groups, size_t width, Dice& dice);

} // namespace dfc::test
