// hoistInvariantOps: takes ops that give the same values in every step out of a graph (loop-invariant code
// motion, the loop being that of the steps). Invariant is an op that depends on parameters that no op assigns
// and on constants alone. The README says which of these are worth the memory of their results.
#pragma once

#include "ir/graph/graph.h"

#include <optional>

namespace dfc {

/// A graph in two.
struct HoistedGraph {
  Graph step;        ///< reads prepared parameters (ops::Parameter::ofPlan)
  Graph preparation; ///< fetches what each of them holds, under its name; reads parameters and constants
};

/// Nothing where no op is worth it, where nothing else remains for the step, or where the graph is split
/// already. `graph`: behind the passes of the phase Rewrite.
std::optional<HoistedGraph> hoistInvariantOps(const Graph& graph);

/// The same; nothing, too, where `source`, the graph as its author wrote it, takes gradients, or where
/// `skipPasses` names hoist_invariant_ops.
std::optional<HoistedGraph> hoistUnlessSkipped(const Graph& source, const Graph& graph,
                                               llvm::ArrayRef<std::string> skipPasses);

} // namespace dfc
