// splitWithin: a graph that is split over groups of devices is split again over the devices of each group:
// parallelism along two mesh axes, such as data parallelism over hosts and tensor parallelism over the
// devices of each (Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters").
#pragma once

#include "compiler/split/choose_split.h"
#include "compiler/split/split.h"

namespace dfc {

/// `outer`: a split whose ops are pinned to the first device of a group, or to a device outside the groups,
/// where they stay. `groups`: alike, of equal sizes of at least 2. `mesh`: the first group. Empty if the
/// split rules allow no choice.
std::optional<SplitGraph> splitWithin(SplitGraph outer, const std::vector<std::vector<DeviceId>>& groups,
                                      const Mesh& mesh, const Machine& machine, const CostModel& cost,
                                      const SplitPrices& prices);

/// The rows of such a graph: the groups, then one row for each device outside the groups.
Rows rowsOf(const Graph& graph, const std::vector<std::vector<DeviceId>>& groups, const Machine& machine);

/// Fills in the bandwidth and latency between the rows.
Rows linked(Rows rows, const Machine& machine, const CostModel& cost);

} // namespace dfc
