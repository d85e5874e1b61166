// Shares of unlike devices in the work of a graph: such that all of them end at the same time.
#pragma once

#include "compiler/cost/cost_model.h"
#include "ir/graph/graph.h"

#include <vector>

namespace dfc {

/// Seconds of a whole graph on one device.
struct DeviceWork {
  double divisible = 0; ///< what shrinks with the device's share
  double fixed = 0;     ///< launches, which a small part of an op takes as well as a large one
  double whole() const { return divisible + fixed; }
  friend bool operator==(const DeviceWork&, const DeviceWork&) = default;
};

/// Infinite on a device that cannot run some op.
DeviceWork workOn(const Graph& graph, const Machine& machine, const CostModel& cost, DeviceId device);

/// The share of each device, above 0; they add up to 1. share * divisible + fixed is the same for all
/// devices; where that leaves a device nothing, shares are in proportion to the devices' rates.
std::vector<double> balancedShares(llvm::ArrayRef<DeviceWork> works);

} // namespace dfc
