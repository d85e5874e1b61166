// plannedSeconds: the makespan of a placement's complete plan: transfers, schedule, memory and launches.
// `predictedMakespan` leaves out memory and launches.
#pragma once

#include "compiler/place/place.h"

#include <optional>

namespace dfc {

struct PlannedSeconds {
  double seconds = 0; ///< the predicted makespan, ops that wait for memory included
  bool waits = false; ///< whether ops wait for memory
};

/// As compile() plans with its default options; empty where the plan does not fit into memory.
std::optional<PlannedSeconds> plannedSeconds(const Placement& placement, const PlacementProblem& problem);

} // namespace dfc
