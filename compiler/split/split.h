// The stage `split`: from a graph for one device to graphs for many. Input: a graph behind the passes that
// rewrite single ops, before fusion. Output: candidates, ordinary graphs with pins, of which the scheduler's
// prediction takes the best (compiler/choose_placement.cpp). Design and sources: shared factors as in
// Shardy's OpShardingRule, exact choice by elimination, layouts instead of strategies.
#pragma once

#include "compiler/split/movement.h"
#include "compiler/split/split_plan.h"
#include "compiler/split/split_wish.h"

#include <llvm/ADT/STLExtras.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dfc {

/// A value of the unsplit graph, and the axis along which it has to be cut.
struct AskedCut {
  ValueId value;
  size_t axis = 0;
};

/// A split graph, and the plan that it was made from.
struct SplitGraph {
  Graph graph;
  SplitPlan plan;
  std::string description; ///< "split over gpu0 to gpu7"
  Graph whole = {};        ///< the graph before, whose ops `plan` is about
  std::vector<Movement> movements = {};
  std::vector<AskedCut> asked = {}; ///< wishes, which every change of the plan keeps
  Grid grid = {};                   ///< of this split and its outer splits
  std::shared_ptr<const SplitGraph> outer =
      {}; ///< for a split within groups: the split over groups, whose graph is `whole`
};

/// The split graph of a plan of `graph`. `asked`: the wishes that the plan meets.
SplitGraph splitGraphOf(const Graph& graph, SplitPlan plan, const Machine& machine,
                        std::vector<AskedCut> asked = {});

/// Whether a split over these devices may be worth a trial.
using MayGain = llvm::function_ref<bool(llvm::ArrayRef<DeviceId>)>;
inline bool anyMayGain(llvm::ArrayRef<DeviceId> /*devices*/) { return true; }

/// Candidates, each different from the others; none for a machine with one device, or a graph with pins,
/// which are law. The graph's `cut` ops are wishes beside the caller's, unless the machine has one device;
/// the candidates have none. Errors, of wishes: a pattern that names no value, or no two devices; an axis
/// that cannot be cut; wishes for other devices than those of the first; wishes that contradict one another.
/// Those of `cut` ops are located there. `mayGain`: meshes without are left out, but for wishes.
Result<std::vector<SplitGraph>> splitCandidates(const Graph& graph, const Machine& machine,
                                                const CostModel& cost, llvm::ArrayRef<SplitWish> wishes = {},
                                                MayGain mayGain = anyMayGain);

/// Candidates with little state per device: parameters are cut, and at each use either gathered or computed
/// with in parts. `graph`: without `cut` ops. None for a machine with one device, or a graph with pins.
std::vector<SplitGraph> candidatesForLittleMemory(const Graph& graph, const Machine& machine,
                                                  const CostModel& cost, MayGain mayGain = anyMayGain);

/// Whether neither pins, which are law, nor parts of inputs or parameters forbid another split.
bool maySplit(const Graph& graph);

/// Where a search over splits begins that has no candidate: the choice at a low price on the largest mesh,
/// which may cut nothing. None where `splitCandidates` gives none for the machine or the graph's pins.
std::optional<SplitGraph> anySplit(const Graph& graph, const Machine& machine, const CostModel& cost);

} // namespace dfc
