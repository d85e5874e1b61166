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
};

} // namespace dfc
