// Graphs with independent work.
#pragma once

#include "ir/author/builder.h"

namespace dfc::bench {

/// `count` independent products of different matrices, without pins, assigned to parameters.
Result<Graph> independentProducts(int count, int64_t size);

/// The graph of lesson 5: `gpu` multiplies `stages` times; each product is copied to `cpu` and multiplied
/// again.
Result<Graph> gpuAndCpuPipeline(const std::string& gpu, const std::string& cpu, int64_t size, int stages);

/// A random graph of about `ops` products, sums and activations of `size` x `size` matrices in which each op
/// takes two of the eight results before it, so that many may run at once. Every op is pinned to one of
/// `devices`, from the same random numbers for any number of devices.
Result<Graph> randomDag(uint64_t seed, int ops, int64_t size, const std::vector<std::string>& devices);

} // namespace dfc::bench
