// Placement: a graph and the device of each of its ops. Made by a placement policy, consumed by
// insertTransfers.
#pragma once

#include "ir/graph/graph.h"
#include "ir/machine/machine.h"

namespace dfc {

struct Placement {
  Graph graph;
  SideTable<OpId, DeviceId> device;
  std::string policy; ///< the name of the policy that won, for reports
  /// Ops that devices of their device's kind and model compute anew where they read the results, instead of
  /// copying them: tiny and cheap ones. Empty for none.
  SideTable<OpId, bool> recomputed = {};
  /// Parameters that another device reads by a transfer in each step, in place of a replica. Empty for none.
  SideTable<OpId, bool> streamed = {};

  bool isStreamed(OpId parameter) const { return !streamed.empty() && streamed[parameter]; }
};

} // namespace dfc
