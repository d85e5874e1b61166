// CheapOps: tiny results that take less time to compute than to copy: step counts, powers of Adam's betas,
// iotas, learning rates. None of them should cross a link to save a launch.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

class CheapOps {
 public:
  explicit CheapOps(const PlacementProblem& problem);

  /// Places each cheap op without a pin on the device of most of its readers, and marks it as recomputed
  /// (Placement::recomputed) for its readers on other devices of that kind.
  void settle(Placement& placement) const;
  /// Whether the op is cheap on some device.
  bool isCheap(OpId op) const { return isCandidate_[op]; }

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
