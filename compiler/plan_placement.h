// planPlacement: from a placement to a sealed plan, for `compile` and what plans a part of a graph by itself.
#pragma once

#include "compiler/compile.h"
#include "compiler/transfer/insert_transfers.h"

namespace dfc {

/// Transfers, schedule, memory plan and launches. Errors: memory that does not suffice, with the largest
/// holders. The observer sees the stages.
Result<Executable> planPlacement(const Placement& placement, const Machine& machine, const CostModel& cost,
                                 const CompileOptions& options, Replicas replicas = Replicas::Kept);

} // namespace dfc
