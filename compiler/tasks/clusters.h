// Clusterings: placements that keep tasks together which exchange much data. Edges are zeroed, those with the
// longest copies first, as long as no cluster takes more than a share of the work (edge zeroing: Sarkar,
// "Partitioning and scheduling parallel programs for multiprocessors", 1989; here with a limit on the work of
// a cluster in place of a trial schedule); then each cluster goes where it ends first, the largest first
// (Graham's LPT).
#pragma once

#include "compiler/tasks/task_graph.h"

namespace dfc {

/// The device of each task. `share`: of all work, the most that one cluster may take, above 0. Tasks that may
/// not run on their cluster's device get anyDevice: the placer chooses. `devices`: how many may be used at
/// most, those that are fastest for all tasks first.
std::vector<uint32_t> clusteredPlacement(const TaskGraph& graph, double share, size_t devices);

/// Devices by the time in which each would do all the tasks that it may run, those that may run most first.
std::vector<uint32_t> devicesBySpeed(const TaskGraph& graph);

} // namespace dfc
