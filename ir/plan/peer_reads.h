// Reads at a peer: a kernel of one GPU reads a value in another GPU's memory, and no copy of it is made.
#pragma once

#include "ir/plan/placed_graph.h"

#include <vector>

namespace dfc {

/// A value of at most so many bytes is always read from the peer where that is possible: its copy would be
/// almost all latency and would delay larger copies behind it.
inline constexpr int64_t smallPeerRead = int64_t{64} << 10;

/// Peer access between GPUs: kernels of one read the other's memory. Two GPUs have it if direct routes join
/// them both ways and a copy over these takes about as long as to the nearest GPU. A slower route counts as a
/// network between hosts, without peer access.
class PeerAccess {
 public:
  explicit PeerAccess(const Machine& machine);
  bool reaches(DeviceId reader, DeviceId owner) const {
    return near_[owner.index() * devices_ + reader.index()] &&
           near_[reader.index() * devices_ + owner.index()];
  }

 private:
  size_t devices_;
  std::vector<bool> near_; ///< by source and destination
};

/// By op: of the transfers that a plan with peer reads does not make, as far as is known before it has a
/// schedule, the op that reads at the peer; else invalid. The value is small and has one reader, an
/// elementwise op that reads each of its elements once; nothing else has to come behind the transfer.
SideTable<OpId, OpId> smallPeerReads(const PlacedGraph& placed, const Machine& machine);

} // namespace dfc
