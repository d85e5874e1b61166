// RatedPlacements: the best placements of those that a policy tries, by the makespan that the scheduler
// predicts.
#pragma once

#include "compiler/place/cheap_ops.h"

#include <llvm/ADT/DenseSet.h>

#include <optional>

namespace dfc {

struct RatedPlacement {
  Placement placement;
  double seconds = 0;   ///< predicted makespan; a lower bound of it where that exceeds the best's makespan
  bool isShort = false; ///< whether some device has less memory than any plan of it needs
  size_t devices = 1;   ///< that run ops without a pin
  /// What is compared. Several devices have to gain by more than predictions miss: copies and waits that
  /// gain nothing are left out.
  double value() const;
  uint64_t hash = 0; ///< of the placement
};
/// Enough memory first, then by value; fewer devices on a tie.
bool isBetter(const RatedPlacement& a, const RatedPlacement& b);

class RatedPlacements {
 public:
  explicit RatedPlacements(const PlacementProblem& problem) : problem_(problem), cheap_(problem) {}

  /// Rates a placement, its cheap ops settled, that was not offered before. True if it is the best so far.
  bool offer(Placement candidate);
  bool empty() const { return best_.empty(); }
  const RatedPlacement& best() const { return best_.front(); }
  /// Plans the best so far in full; where it does not fit into memory, the next ones until one does.
  void planBest();
  /// Plans one device alone in full if it is the best of such so far.
  void planSingle(Placement single);
  /// Offers a placement, and plans it in full if its makespan may be near the best.
  void offerAndPlan(Placement candidate);
  /// The best of those that were planned in full and fit into memory; the best of all where none does.
  const RatedPlacement& bestPlanned() const { return planned_.empty() ? best() : planned_.front(); }

 private:
  bool runs(const Placement& placement) const;
  bool isFar(const RatedPlacement& row) const;
  RatedPlacement rowOf(Placement placement) const;
  bool plan(const RatedPlacement& row);

  const PlacementProblem& problem_;
  CheapOps cheap_;
  std::vector<RatedPlacement> best_;    // a few, the best first
  std::vector<RatedPlacement> planned_; // in full, the best first
  llvm::DenseSet<uint64_t> wasPlanned_;
  std::optional<RatedPlacement> single_; // the best
  llvm::DenseSet<uint64_t> seen_;        // hashes of placements
};

} // namespace dfc
