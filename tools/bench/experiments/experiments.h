// The experiments of "Dive into Deep Learning" and of single kernels, each a function that adds its rows to
// the harness's report.
#pragma once

#include "tools/bench/harness.h"

namespace dfc::bench {

/// The functions of experiments.def, in its order.
llvm::ArrayRef<void (*)(Harness&)> allExperiments();

/// The keys of dense_backward: "dense_backward/relu/f32", …
std::vector<std::string> denseBackwardKeys();

#define DFC_EXPERIMENT(function, name, book, title) void function(Harness&);
#include "tools/bench/experiments/experiments.def"
#undef DFC_EXPERIMENT

} // namespace dfc::bench
