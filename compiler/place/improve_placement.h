// PlacementImprover: local search with the scheduler in the loop. A step moves connected ops, or the ops of a
// scope, to another device, or swaps two groups of ops; it is kept if it is no slower than the placement of
// some steps ago (late acceptance hill climbing: Burke and Bykov, EJOR 258(1), 2017). The same options give
// the same placement: steps are counted, and no clock is read but by a caller's `goesOn`.
#pragma once

#include "compiler/place/rated_placements.h"

#include <llvm/ADT/STLExtras.h>

#include <optional>
#include <random>

namespace dfc {

class PlacementImprover {
 public:
  PlacementImprover(const PlacementProblem& problem, RatedPlacements& rated);

  /// From the best placement so far, over the devices up to `newest`.
  void run(DeviceId newest, uint64_t steps);
  /// More steps from the best so far, with other random numbers.
  void runLonger(DeviceId newest, uint64_t steps);
  /// The same over all devices, until `goesOn`, which is asked before each step,
  /// says no, or no placement is found that was not offered before.
  void runWhile(llvm::function_ref<bool()> goesOn);

  /// The ops that a search moves.
  llvm::ArrayRef<OpId> movable() const { return movable_; }

 private:
  void runWhile(DeviceId newest, llvm::function_ref<bool()> goesOn);
  /// `next` returns the placement to try in a step, or nothing to end the search.
  void climb(const RatedPlacement& start, llvm::function_ref<std::optional<Placement>()> next);
  void descend(DeviceId newest, uint64_t steps);
  uint32_t draw(size_t count) { return static_cast<uint32_t>(random_() % count); }
  size_t drawSize();
  DeviceId drawDevice(DeviceId newest);
  Placement proposal(const Placement& from, DeviceId newest);
  std::optional<Placement> newProposal(DeviceId newest);
  std::vector<OpId> connectedGroup(OpId seed, const Placement& placement, size_t most);
  std::vector<OpId> scopeGroup(OpId seed, const Placement& placement) const;
  void move(llvm::ArrayRef<OpId> ops, DeviceId to, Placement& placement) const;
  OpId neighbourElsewhere(OpId op, const Placement& placement);

  const PlacementProblem& problem_;
  const Graph& graph_;
  RatedPlacements& rated_;
  std::vector<OpId> movable_;
  SideTable<OpId, llvm::SmallVector<OpId, 4>> neighbours_;
  Placement current_;
  std::mt19937_64 random_{1};
};

} // namespace dfc
