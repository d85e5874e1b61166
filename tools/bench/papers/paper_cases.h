// Published plans of GPT training steps, as grids of the space that the compiler searches.
#pragma once

#include "compiler/quotient/quotient_plan.h"
#include "samples/06_gpt/gpt.h"

#include <llvm/ADT/ArrayRef.h>

#include <string_view>

namespace dfc::bench {

struct PaperCase {
  std::string_view name; ///< "alpa/1.3B"
  gpt::Sizes sizes;
  int64_t batch = 0; ///< sequences in a step
  size_t gpus = 0;
  bool isV100 = false; ///< else A100
  /// Without a number of micro-batches where the paper has none: the best number is taken.
  WantedGrid published;
  std::string_view note = {}; ///< how the published plan differs from the grid
};

llvm::ArrayRef<PaperCase> paperCases();

/// The case with at most so many layers, in equal numbers for each published stage.
PaperCase withFewerLayers(PaperCase one, int64_t layers);

} // namespace dfc::bench
