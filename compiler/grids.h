// gridCandidates: splits along several axes of a mesh. Stages of a pipeline: layers are spread over groups of
// devices, the batch in parts that follow one another through the layers; the list scheduler finds the order:
// forward and backward parts interleave where a device would be idle (Narayanan et al. 2019, "PipeDream"; Qi
// et al. 2023, "Zero Bubble Pipeline Parallelism": the gradients of weights are ops of their own). Within a
// stage the ops are split over groups, and those of a group over its devices.
#pragma once

#include "compiler/split/split.h"

namespace dfc {

/// Of a machine that `compile` plans for: on more, `compiler/quotient` says how a graph would run.
constexpr size_t mostPlannedDevices = 128;

/// The devices of a grid.
struct GridRows {
  Grid grid;                                 ///< how many there are of each
  std::vector<std::vector<DeviceId>> stages; ///< of each stage the first device of each group
  std::vector<std::vector<DeviceId>> groups; ///< of each group its devices, in the order of `stages`
  bool mirrored = false; ///< `Mesh::mirrored`: each row is a device and, as often as it has peers, its mirror
};

/// Micro-batches of a pipeline, 1 for no pipeline, and how many of them are made (`microBatches`): all, where
/// nothing is given.
struct BatchParts {
  size_t count = 1;
  std::optional<size_t> made = {};
};
/// As many as a pipeline is given where the batch has enough elements.
size_t partsOf(const Grid& grid);

/// The split over the grid: over its groups, then into parts of the batch, then within groups. `graph`:
/// without batch norms (`unfoldBatchNorms`). Nothing where no choice is possible, or the batch has too few
/// elements.
std::optional<SplitGraph> splitOverGrid(const Graph& graph, const GridRows& rows, const Machine& machine,
                                        const CostModel& cost, const BatchParts& parts = {});

/// Of a step, planned so far; infinite where nothing fits.
struct KnownSeconds {
  double alone = 0; ///< on one device
  double best = 0;  ///< by the best split
};

/// Candidates of each grid with 1, 2, 4, … stages and groups of 1, 2, 4, … devices on each mesh of alike
/// devices (`candidateMeshes`), but those along one axis (`splitCandidates`). The devices of a group are on
/// one fast link, where some links are faster than others. None for a graph with pins; no pipeline where the
/// batch has too few elements; and no grid whose computation alone, with the launches of all parts and the
/// stages' idle time, takes as long as the best split. `graph`: behind the phase Rewrite, without `cut` ops.
std::vector<SplitGraph> gridCandidates(const Graph& graph, const Machine& machine, const CostModel& cost,
                                       const KnownSeconds& known);

} // namespace dfc
