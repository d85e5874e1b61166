// Published plans of GPT training steps, as grids of the space that the compiler searches.
#pragma once

#include "compiler/quotient/quotient_plan.h"
#include "ir/machine/machine.h"
#include "tools/bench/graphs/lessons.h"

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

/// One step of the case's graph.
Result<Graph> graphOf(const PaperCase& one);
/// The case's machine. With fewer layers than `full` has, its GPUs have less memory, in proportion to the
/// parameters.
Machine machineOf(const PaperCase& one, const PaperCase& full);

/// The plan of the paper's grid, and the best of all grids, by the same simulation.
struct PricedCase {
  QuotientPlan published, found;
  double ratio() const { return found.seconds / published.seconds; }
  /// Of the operations of products with weights in `found`, the part that is cut along a weight over groups:
  /// tensor parallelism over the hosts' network, where the groups are in several hosts.
  double tensorParallelOverHosts() const;
};

Result<PricedCase> priced(const PaperCase& one, const Graph& graph, const Machine& machine);

} // namespace dfc::bench
