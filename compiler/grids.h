// gridCandidates: splits along several mesh axes. Pipeline stages hold runs of layers, and micro-batches pass
// through them; the list scheduler finds their order, in which forward and backward passes alternate
// (Narayanan et al. 2019, "PipeDream"; Qi et al. 2023, "Zero Bubble Pipeline Parallelism": the gradients of
// weights are ops of their own). The ops of a stage are split over groups of devices, and the ops of a group
// over its devices.
#pragma once

#include "compiler/split/pipeline/batch_choices.h"
#include "compiler/split/split.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dfc {

/// The most devices of a machine that policies `auto` and `split` make a plan for. `compiler/quotient`
/// simulates larger machines.
constexpr size_t mostPlannedDevices = 128;

/// The devices of a grid.
struct GridRows {
  Grid grid;
  std::vector<std::vector<DeviceId>> stages; ///< by stage: the first device of each of its groups
  std::vector<std::vector<DeviceId>> groups; ///< by group, stage after stage: its devices
  bool mirrored = false;                     ///< whether the rows are mirrored meshes (`Mesh::mirrored`)
};

/// Deals the devices out in order: to groups, and groups to stages. `devices`: as many as the grid has.
GridRows gridRows(llvm::ArrayRef<DeviceId> devices, const Grid& grid);

/// A grid that is asked for, and the number of its micro-batches; none: the compiler chooses.
struct WantedGrid {
  Grid grid;
  std::optional<size_t> microBatches = {};
};

/// What the split within a group is chosen for.
enum class MemoryUse : uint8_t {
  Ample,  ///< seconds alone
  Little, ///< state and sums of gradients have a price, so that devices hold parts of them
};

/// The micro-batches of a pipeline, and the memory that they may use.
struct MicroBatches {
  size_t count = 1;                ///< 1 without a pipeline
  std::optional<size_t> made = {}; ///< how many of them are put into the graph (`microBatches`); none: all
  MemoryUse memory = MemoryUse::Ample;
};
/// The number of micro-batches that a pipeline has if the batch is large enough; 1 without a pipeline.
size_t microBatchCount(const Grid& grid);
/// The most micro-batches of equal length up to that number, for a group's part of the batch of that length.
size_t evenMicroBatches(size_t most, size_t length);
/// ", 8 micro-batches"; empty for 1.
std::string microBatchText(size_t count);
/// The seconds of a step over those without idle stages: (m + p - 1) / m.
double pipelineFactor(size_t microBatches, size_t stages);

/// The graph split over the groups of each stage, cut into micro-batches, and split within each group.
/// `graph`: without batch norms (`unfoldBatchNorms`). Empty if the split rules allow no choice, or the batch
/// is too small.
std::optional<SplitGraph> splitOverGrid(const Graph& graph, const GridRows& rows, const Machine& machine,
                                        const CostModel& cost, const MicroBatches& batches = {});

/// `splitOverGrid` for several numbers of micro-batches: the split over groups depends on whether there are
/// micro-batches, not on how many, and is made once. The arguments outlive it; one caller at a time.
class GridSplitter {
 public:
  GridSplitter(const Graph& graph, const GridRows& rows, const Machine& machine, const CostModel& cost)
      : graph_(graph), rows_(rows), machine_(machine), cost_(cost) {}
  std::optional<SplitGraph> split(const MicroBatches& batches);
  /// The elements of the batch that a group cuts into micro-batches; 0 if the split rules allow no choice.
  int64_t batchOfGroup();

 private:
  const std::optional<SplitGraph>& overGroups(bool inMicroBatches, MemoryUse memory);

  const Graph& graph_;
  const GridRows& rows_;
  const Machine& machine_;
  const CostModel& cost_;
  std::map<std::pair<bool, MemoryUse>, std::optional<SplitGraph>> overGroups_; // bool: has micro-batches
  std::unique_ptr<const BatchChoices> choices_; // of the last number of micro-batches, and the split
  const SplitGraph* choicesOf_ = nullptr;
};

/// Candidates with little memory per device, of a batch in this number of micro-batches: parameters, their
/// optimizer states and the sums of gradients over micro-batches are in parts on the largest mesh of each
/// class of alike devices. None where the batch is too small. `graph`: without `cut` ops.
std::vector<SplitGraph> batchesInLittleMemory(const Graph& graph, size_t microBatches, const Machine& machine,
                                              const CostModel& cost, MayGain mayGain = anyMayGain);

/// Predicted seconds of a step of the plans so far; infinite if none fits into memory.
struct KnownSeconds {
  double oneDevice = 0;
  double best = 0; ///< of the best split along one axis
};

/// Candidates for each grid of 1, 2, 4, … stages and groups of 1, 2, 4, … devices, on each mesh of alike
/// devices
/// (`candidateMeshes`); splits along one axis are those of `splitCandidates` and left out here. A group lies
/// within one interconnect domain. A grid is left out if its estimated seconds, without communication, exceed
/// those of the best split so far. Empty for a graph with pins. `graph`: behind the phase Rewrite, without
/// `cut` ops.
std::vector<SplitGraph> gridCandidates(const Graph& graph, const Machine& machine, const CostModel& cost,
                                       const KnownSeconds& known, MayGain mayGain = anyMayGain);

} // namespace dfc
