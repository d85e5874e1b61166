// plannedSeconds: the seconds of a placement's complete plan, as compile() predicts them: transfers,
// schedule, memory, launches, and feeds that arrive during the step before. `predictedMakespan` leaves out
// all but the first two.
#pragma once

#include "compiler/place/place.h"

#include <optional>

namespace dfc {

struct PlannedSeconds {
  double seconds = 0; ///< of a step in a sequence of steps, ops that wait for memory included
  double bound = 0;   ///< below which no order of its ops takes such a step
  bool waits = false; ///< whether ops wait for memory
};

/// Empty where the plan does not fit into memory.
std::optional<PlannedSeconds> plannedSeconds(const Placement& placement, const PlacementProblem& problem);

} // namespace dfc
