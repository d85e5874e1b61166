// MeshFloor: the least seconds that a graph can take on several devices, by its work alone. Meshes that
// cannot win are left out by it before a split is made.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/graph/graph.h"

#include <vector>

namespace dfc {

class MeshFloor {
 public:
  /// `fused`: the graph as it would be launched, behind fusion.
  MeshFloor(const Graph& fused, const Machine& machine, const CostModel& cost);

  /// Seconds of the work if it were divided among the devices in proportion to their rates, with no launch
  /// repeated, all compute queues busy and no copy. Infinite if none can run the graph.
  double seconds(llvm::ArrayRef<DeviceId> devices) const;

 private:
  SideTable<DeviceId, double> alone_;
};

} // namespace dfc
