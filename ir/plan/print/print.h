// The printed forms of the stages after the graph, for people, golden tests and `dfc compile --emit`; for
// reading only. All are linear in their stage and the same from run to run.
#pragma once

#include "ir/plan/launch_plan.h"

#include <string>

namespace dfc {

/// Every op with its device; transfers with from, to, bytes and links; replicas; orderings.
std::string printPlaced(const PlacedGraph& placed, const Machine& machine);

/// Every queue with its steps, their predicted begins, durations and waits; bounds and makespan.
std::string printSchedule(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine);

/// Every device with its arena, its residents, the peak within a step, and the values by offset with the
/// steps between which they live.
std::string printMemory(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                        const Machine& machine);

/// Every queue of a GPU with its launches: the ops, the kernel or library call, its shape, its operands by
/// slot; peer reads.
std::string printLaunches(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                          const Machine& machine);

} // namespace dfc
