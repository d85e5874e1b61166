// RatedPlacements: the best placements of those that a policy tries, by the makespan that the scheduler
// predicts.
#pragma once

#include "compiler/place/cheap_ops.h"
#include "compiler/place/planned_seconds.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <limits>
#include <optional>

namespace dfc {

struct RatedPlacement {
  Placement placement;
  double seconds = 0; ///< predicted makespan; a lower bound of it where that exceeds the best's makespan
  /// 0 where all devices are likely to have enough memory, 1 where some may not, 2 where some have less than
  /// any plan needs.
  int shortage = 0;
  size_t devices = 1; ///< that run ops without a pin
  /// What is compared. Several devices have to gain by more than predictions miss: copies and waits that
  /// gain nothing are left out.
  double value() const;
  uint64_t hash = 0; ///< of the placement
};
/// Enough memory first, then by value; fewer devices on a tie.
bool isBetter(const RatedPlacement& a, const RatedPlacement& b);

class RatedPlacements {
 public:
  explicit RatedPlacements(const PlacementProblem& problem);

  /// Rates a placement, its cheap ops settled, that was not offered before. Its `value()`; infinite if it was
  /// offered before or is short of memory. Makespans above `limit` are not looked at closely: a lower bound
  /// stands for them.
  double offer(Placement candidate, double limit = 0);
  /// Whether the placement was rated before, after its cheap ops were moved to their operands' devices.
  bool wasOffered(Placement candidate) const;
  /// Whether a placement with this computing time on one device is unlikely to be the best.
  bool isHopeless(double seconds) const { return plansAll_ && seconds > mostMakespan(0); }
  /// Whether an op is put where its readers are, wherever a placement has it.
  bool isCheap(OpId op) const { return cheap_.isCheap(op); }
  bool empty() const { return best_.empty(); }
  /// Whether one that was planned in full fits into memory.
  bool fits() const { return !planned_.empty(); }
  const RatedPlacement& best() const { return best_.front(); }
  /// The best placement over several devices, where the best of all uses one: a second start of the local
  /// search, as a single device is often a local optimum.
  std::optional<RatedPlacement> bestOfSeveral() const;
  /// The best first; of the others some with a lower bound for the makespan.
  const std::vector<RatedPlacement>& fewBest() const { return best_; }
  /// Plans the best so far in full; where it does not fit into memory, the next ones until one does.
  void planBest();
  /// Plans one device alone in full if it is the best of such so far.
  void planSingle(Placement single);
  /// Offers a placement, and plans it in full if its makespan may be near the best.
  void offerAndPlan(Placement candidate);
  /// Plans a placement in full, its cheap ops as they are, if its makespan may be near the best.
  void planNear(Placement placement);
  /// Plans a placement of another policy in full, as it is: the best is then no worse than it.
  void planPolicy(Placement placement);
  /// The best of those that were planned in full and fit into memory; the best of all where none does.
  const RatedPlacement& bestPlanned() const { return planned_.empty() ? best() : planned_.front(); }

 private:
  bool runs(const Placement& placement) const;
  bool isFar(const RatedPlacement& row) const;
  RatedPlacement rowOf(Placement placement) const;
  /// `bound`: on its makespan.
  RatedPlacement rowOf(Placement placement, double bound) const;
  double mostMakespan(double limit) const;
  std::optional<PlannedSeconds> plan(const RatedPlacement& row,
                                     double most = std::numeric_limits<double>::infinity());

  const PlacementProblem& problem_;
  CheapOps cheap_;
  bool plansAll_;                       // small graphs: quick to plan, and launches are most of their time
  std::vector<RatedPlacement> best_;    // a few, the best first
  std::vector<RatedPlacement> planned_; // in full: the best, if any
  llvm::DenseMap<uint64_t, std::optional<PlannedSeconds>> planOf_; // by hash of the placement
  std::optional<RatedPlacement> single_;                           // the best
  llvm::DenseSet<uint64_t> seen_;                                  // hashes of placements
};

} // namespace dfc
