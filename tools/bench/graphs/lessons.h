// GPT-2 and ResNet as the lessons 6 and 7 write them, with random feeds: a training step and a forward pass
// of each. Nothing here is a model of its own.
#pragma once

#include "runtime/session.h"
#include "samples/06_gpt/gpt.h"
#include "samples/07_resnet/resnet.h"

namespace dfc::bench {

/// A graph and what is fed to each of its steps.
struct FedGraph {
  Result<Graph> graph;
  NamedLiterals feeds;
};

/// One step of AdamW on `batch` windows of random tokens.
FedGraph gptStep(const gpt::Sizes& sizes, int64_t batch);
/// The logits of `batch` windows of random tokens.
FedGraph gptForward(const gpt::Sizes& sizes, int64_t batch);
/// One token drawn after those in the caches, and nothing fed: weights and caches of `sizes.element`.
FedGraph gptDecode(const gpt::Sizes& sizes);
/// Sets the quantised weights of such a graph, where it has any: random ones of GPT-2's deviation.
Status setQuantized(Session& session, const gpt::Sizes& sizes);
/// One step of SGD with momentum on `batch` random images.
FedGraph resnetStep(const resnet::Sizes& sizes, int64_t batch);
/// The logits of `batch` random images, with the running statistics.
FedGraph resnetForward(const resnet::Sizes& sizes, int64_t batch);

} // namespace dfc::bench
