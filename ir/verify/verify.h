// One verifier a stage. Each gives every error it finds, located by op name; an empty list means the stage
// keeps its contract. They run after every stage in debug builds and tests, and on everything that is loaded
// from a file.
#pragma once

#include "ir/plan/executable_parts.h"
#include "ir/plan/placement.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {

/// Types hold, operands exist and come first, names are unique, one assign a parameter, fetches exist.
Diagnostics verifyGraph(const Graph& graph);
/// Inputs and parameters that are parts or copies of an author's make up the author's
/// (ir/graph/whole_state.h). `isReplica`: parameters that are replicas of others, which are not looked at.
Diagnostics verifyWholeState(
    const Graph& graph, llvm::function_ref<bool(OpId)> isReplica = [](OpId) { return false; });
/// A host exists, names are unique, rates and sizes are finite and not negative, routes name real devices and
/// links, every device reaches every other.
Diagnostics verifyMachine(const Machine& machine);
/// Every op has a device of the machine; inputs are on the host; pins hold.
Diagnostics verifyPlacement(const Placement& placement, const Machine& machine);
/// Every operand is on its op's device; transfers name a real route; replicas match their originals; no
/// request ops.
Diagnostics verifyPlacedGraph(const PlacedGraph& placed, const Machine& machine);
/// Every working op has one step on a queue of its device; queue order and waits imply every data dependence
/// and every ordering; no cycle.
Diagnostics verifySchedule(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine);
/// Every value lies inside its device's arena; values that share bytes are separated by happens-before, or
/// are the same storage on purpose (a view, an in-place update); capacity holds.
Diagnostics verifyMemoryPlan(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                             const Machine& machine);
/// Verifies machine, placed graph, schedule and memory plan in this order, each against the earlier ones.
/// Returns the errors of the first that fails.
Diagnostics verifyStages(const PlacedGraph& placed, const Schedule& schedule, const MemoryPlan& memory,
                         const Machine& machine);
/// Every op of a GPU's compute queue is computed by launches of that queue, no other op is; a launch is
/// enqueued no later than its ops' steps allow, reads nothing before it is written and writes nothing that is
/// still read; its pointers lie in arenas and workspaces; peer reads keep the schedule's happens-before
/// relation. An empty plan is sound. Assumes stages that are.
Diagnostics verifyLaunchPlan(const LaunchPlan& launches, const PlacedGraph& placed, const Schedule& schedule,
                             const MemoryPlan& memory, const Machine& machine);
/// The preparation has no inputs, fetches and preparation, and is for the machine of the step; each of its
/// parameters is one of the step's, of the same type and on the same device, which no op of the step assigns;
/// it assigns parameters that a pass derived, with all their replicas. Together they keep within the devices'
/// memory. Assumes sealed plans.
Diagnostics verifyPreparation(const Executable& preparation, const Executable& step);
/// Lower bounds and shared devices' times are those that follow from the steps' seconds and utilisations. Not
/// part of the stages' contract, as a plan made by hand may leave them out: asked of what is read from a
/// file. Assumes stages that are sound.
Diagnostics verifyPrediction(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine);

} // namespace dfc
