// splitWithin: a graph that is spread over groups of devices, split once more over the devices of each group:
// parallelism along two mesh axes, such as data parallelism over hosts and tensor parallelism over the
// devices of each (Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters").
#pragma once

#include "compiler/split/split.h"

namespace dfc {

/// `outer`: its ops are pinned to the first device of a group, or to a device of none, which keeps them.
/// `groups`: alike, of equal sizes, of two devices or more. `mesh`: of the first. `price`: of a second on a
/// link, in seconds of computation. Nothing where no choice is possible.
std::optional<SplitGraph> splitWithin(SplitGraph outer, const std::vector<std::vector<DeviceId>>& groups,
                                      const Mesh& mesh, const Machine& machine, const CostModel& cost,
                                      double price);

/// The rows of a graph whose ops are pinned so: the groups, and each device of none.
Rows rowsOf(const Graph& graph, const std::vector<std::vector<DeviceId>>& groups, const Machine& machine);

/// The same rows with the rate of the links between them.
Rows linked(Rows rows, const Machine& machine, const CostModel& cost);

} // namespace dfc
