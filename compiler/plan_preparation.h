// planPreparation: the plan that computes the prepared parameters of a step, where the step's plan has them.
#pragma once

#include "compiler/compile.h"
#include "ir/plan/placed_graph.h"

namespace dfc {

/// `preparation`: of HoistedGraph; `step`: as placed. The weights are read where the step has them, in parts
/// if it has them so; each result is computed on the device of its first copy and assigned to all parts and
/// replicas. Errors: an op that cannot run there, memory that does not suffice.
Result<Executable> planPreparation(const Graph& preparation, const PlacedGraph& step, const Machine& machine,
                                   const CostModel& cost, const CompileOptions& options);

} // namespace dfc
