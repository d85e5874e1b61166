// The experiments of "Dive into Deep Learning" (issue 3, "The experiments"), each a function that adds its
// rows to the stage's report.
#pragma once

#include "tools/bench/stage.h"

namespace dfc::bench {

struct Experiment {
  void (*run)(Stage&);
  std::string_view keys; ///< the beginnings of its rows' keys, with blanks between
};
llvm::ArrayRef<Experiment> allExperiments();

/// K2's rows: "K2/relu/f32", …
std::vector<std::string> endedProductKeys();

#define DFC_EXPERIMENT(function, keys) void function(Stage&);
#include "tools/bench/experiments/experiments.def"
#undef DFC_EXPERIMENT

} // namespace dfc::bench
