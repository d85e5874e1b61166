// pipelineCandidates: graphs whose layers are spread over groups of devices, the batch in parts that follow
// one another through the layers; within a group the parts of the batch are split over its devices. The list
// scheduler finds the order: forward and backward parts interleave where a device would be idle (Narayanan et
// al. 2019, "PipeDream"; Qi et al. 2023, "Zero Bubble Pipeline Parallelism": the gradients of weights are ops
// of their own).
#pragma once

#include "compiler/split/split.h"

namespace dfc {

/// Candidates with 2, 4, 8, … stages over each mesh of alike devices (`candidateMeshes`); none for a
/// graph with pins, or whose batch has too few elements, and none whose computation alone, with the launches
/// of all parts and the stages' idle time, takes `seconds`. `graph`: behind the phase Rewrite, without `cut`
/// ops.
std::vector<SplitGraph> pipelineCandidates(const Graph& graph, const Machine& machine, const CostModel& cost,
                                           double seconds);

} // namespace dfc
