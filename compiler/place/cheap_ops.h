// CheapOps: tiny results that take less time to compute than to copy: step counts, powers of Adam's betas,
// iotas, learning rates. None of them should cross a link to save a launch.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

class CheapOps {
 public:
  explicit CheapOps(const PlacementProblem& problem);

  /// Puts cheap ops without a pin where most of their readers are, and marks those that devices of one kind
  /// compute anew.
  void settle(Placement& placement) const;

 private:
  bool isCheapOn(DeviceId device, OpId op) const { return cheap_[op.index() * devices_ + device.index()]; }
  void findCheap(OpId op);
  DeviceId deviceOfMostReaders(OpId op, const Placement& placement) const;
  void gather(Placement& placement) const;

  const PlacementProblem& problem_;
  const Graph& graph_;
  size_t devices_;
  std::vector<bool> cheap_;      // ops x devices
  std::vector<OpId> candidates_; // cheap somewhere, in the order of ids
  SideTable<OpId, bool> isCandidate_;
  SideTable<OpId, llvm::SmallVector<OpId, 2>> readers_; // of candidates
  SideTable<OpId, OpId> assignOf_;                      // of tiny parameters
};

} // namespace dfc
