// The printed form of every stage, for people, golden tests and `dfc compile --emit`. The graph's form is a
// graph file: it parses back to the same graph, to the bit (ir/same_graph.h), and printing that gives the
// same text. The forms of the later stages are for reading only. All are linear in what they show and the
// same from run to run.
#pragma once

#include "ir/plan/memory_plan.h"

#include <string>

namespace dfc {

/// A graph file (README.md): one op a line with its types, attributes where they differ from the default,
/// scopes as blocks, pins on the block that shares one or on the op.
std::string printGraph(const Graph& graph);

/// Every op with its device; transfers with from, to, bytes and links; replicas; orderings.
std::string printPlaced(const PlacedGraph& placed, const Machine& machine);

/// Every queue with its steps, their predicted begin and length, and what they wait for; bounds and makespan.
std::string printSchedule(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine);

/// Every device with its arena, its residents, the peak within a step, and the values by offset with the
/// steps between which they live.
std::string printMemory(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                        const Machine& machine);

} // namespace dfc
