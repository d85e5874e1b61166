#include "compiler/place/offer_all.h"

#include "compiler/place/task_graph_of.h"

#include <llvm/ADT/STLExtras.h>

#include <cmath>
#include <vector>

namespace dfc {
namespace {

std::vector<OpId> freeOps(llvm::ArrayRef<OpId> movable, const RatedPlacements& rated) {
  std::vector<OpId> free;
  llvm::copy_if(movable, std::back_inserter(free), [&](OpId op) { return !rated.isCheap(op); });
  return free;
}

/// Depth first, an op a level, with the seconds that each device computes so far.
class Enumeration {
 public:
  Enumeration(std::vector<OpId> ops, DeviceId newest, const PlacementProblem& problem, RatedPlacements& rated)
      : ops_(std::move(ops)), newest_(newest), problem_(problem), rated_(rated),
        placement_(placeOn(problem, newest)), busy_(newest.index() + 1, 0) {
    placement_.policy = "best of all placements";
  }

  void from(size_t level, bool usesNewest) {
    if (level == ops_.size()) {
      if (usesNewest) {
        Placement next = placement_;
        settleResidents(next, problem_);
        rated_.offer(std::move(next));
      }
      return;
    }
    for (uint32_t device = 0; device <= newest_.index(); ++device) {
      put(level, DeviceId(device), usesNewest);
    }
  }

 private:
  void put(size_t level, DeviceId device, bool usesNewest) {
    const DeviceRow& row = problem_.machine.devices[device];
    const double seconds = problem_.cost.opSeconds(problem_.graph, ops_[level], problem_.machine, device) /
                           std::max(1U, row.computeQueues);
    const double before = busy_[device.index()];
    if (!std::isfinite(seconds) || rated_.isHopeless(before + seconds)) {
      return;
    }
    busy_[device.index()] += seconds;
    placement_.device[ops_[level]] = device;
    from(level + 1, usesNewest || device == newest_);
    busy_[device.index()] = before;
  }

  std::vector<OpId> ops_;
  DeviceId newest_;
  const PlacementProblem& problem_;
  RatedPlacements& rated_;
  Placement placement_;
  std::vector<double> busy_; // by device
};

} // namespace

double countPlacements(llvm::ArrayRef<OpId> movable, DeviceId newest, const RatedPlacements& rated) {
  return std::pow(newest.index() + 1, freeOps(movable, rated).size());
}

void offerAll(llvm::ArrayRef<OpId> movable, DeviceId newest, const PlacementProblem& problem,
              RatedPlacements& rated) {
  Enumeration(freeOps(movable, rated), newest, problem, rated).from(0, false);
}

} // namespace dfc
