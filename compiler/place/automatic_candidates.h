// AutomaticCandidates: the placements that policy `auto` begins with, device by device. The candidates for
// the first n devices of a machine are also candidates for n + 1 devices, so a further device cannot make the
// best one worse.
#pragma once

#include "compiler/place/rated_placements.h"

namespace dfc {

class AutomaticCandidates {
 public:
  AutomaticCandidates(const PlacementProblem& problem, RatedPlacements& rated);

  /// All ops on the one device; and the placement by pins alone.
  void offerSingle(DeviceId device);
  /// HEFT, PEFT, layers and a search on task graphs, over the devices up to `newest`, and over those of them
  /// that are like it; a minimum cut between the host and the first of a kind.
  void offerSpread(DeviceId newest);
  /// Whether a single device may hold all: by the cheap test alone, or by the memory planner's.
  bool singleFits() const;

 private:
  void offerLists(llvm::ArrayRef<DeviceId> devices);
  std::vector<DeviceId> alikeUpTo(DeviceId newest) const;

  const PlacementProblem& problem_;
  RatedPlacements& rated_;
  bool pinned_;
  std::vector<Placement> singles_;
};

} // namespace dfc
