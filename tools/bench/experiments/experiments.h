// The experiments of "Dive into Deep Learning" and of single kernels, each a function that adds its rows to
// the harness's report.
#pragma once

#include "tools/bench/harness.h"

namespace dfc::bench {

/// The functions of experiments.def, in its order.
llvm::ArrayRef<void (*)(Harness&)> allExperiments();

/// The keys of dense_backward: "dense_backward/relu/f32", …
std::vector<std::string> denseBackwardKeys();
/// The keys of gpt_training, gpt_decode, resnet_training, gpt_on_gpus and resnet_on_gpus on the harness's
/// machine: "gpt_training/124M/bf16/8x1024", …
std::vector<std::string> gptTrainingKeys(const Harness& harness);
std::vector<std::string> gptDecodeKeys(const Harness& harness);
std::vector<std::string> resnetTrainingKeys(const Harness& harness);
std::vector<std::string> gptOnGpusKeys(const Harness& harness);
std::vector<std::string> resnetOnGpusKeys(const Harness& harness);
/// The sizes of a ResNet that its rows' keys do not name, as arguments of the baselines' scripts.
std::vector<std::string> resnetArguments(const Harness& harness);

#define DFC_EXPERIMENT(function, name, book, title) void function(Harness&);
#include "tools/bench/experiments/experiments.def"
#undef DFC_EXPERIMENT

} // namespace dfc::bench
