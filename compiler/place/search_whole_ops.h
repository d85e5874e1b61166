// searchWholeOps: local search on a placement of whole ops, for time that a caller gives.
#pragma once

#include "compiler/place/place.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {

/// The best placement that is found from `start`, by the predicted seconds of complete plans that fit into
/// memory; `start` if none is better. Pins of the graph hold. `goesOn` is asked before each step, which
/// schedules one placement.
Placement searchWholeOps(const Placement& start, const Machine& machine, const CostModel& cost,
                         const LowerOptions& lowering, llvm::function_ref<bool()> goesOn);

} // namespace dfc
