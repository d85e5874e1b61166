// leastSplitSeconds: a lower bound on the predicted step of every split along one axis.
//
// Holds for plans of the graph as it is given, split by the rules of its ops over a mesh of alike devices,
// whose ops take the seconds of the cost model and whose copies take those of its links: a step among many,
// too. Not for splits along several axes or micro-batches, nor for unlike devices. Source: a step lasts at
// least as long as any weighted mean of the seconds in which its resources are in use (Lagrangean relaxation
// of the longest: Held and Karp 1971).
#pragma once

#include "compiler/split/mesh.h"

#include <optional>

namespace dfc {

/// Of the splits over this mesh of alike devices. `graph`: as `splitCandidates` cuts it, without `cut` ops
/// and with batch norms unfolded. Where computation alone takes `enough`, the bound is that of computation.
/// Infinite where the rules allow no split.
double leastSplitSeconds(const Graph& graph, const Mesh& mesh, const Machine& machine, const CostModel& cost,
                         double enough);

/// Of the splits over every mesh of alike devices that `candidateMeshes` gives, and of each of their devices
/// alone. None where no split is a candidate: for a graph with pins or parts, or without alike devices; and
/// where nothing is known, as the cost model states no floor (`CostModel::leastOfPeak`).
/// `graph`: behind the phase Rewrite.
std::optional<double> leastSplitSeconds(const Graph& graph, const Machine& machine, const CostModel& cost);

} // namespace dfc
