// plannedSeconds: the seconds of a placement's complete plan, as compile() predicts them: transfers,
// schedule, memory, launches, and feeds that arrive during the step before. `predictedMakespan` leaves out
// all but the first two.
#pragma once

#include "compiler/place/place.h"

#include <limits>
#include <optional>

namespace dfc {

struct PlannedSeconds {
  double seconds = 0; ///< of a step in a sequence of steps, ops that wait for memory included
  double bound = 0;   ///< below which no order of its ops takes such a step
  bool waits = false; ///< whether ops wait for memory
  /// Whether the plan was given up: `seconds` is then the makespan of its schedule, and whether it fits into
  /// memory is not known.
  bool givenUp = false;
};

/// Empty where the plan does not fit into memory. `most`: a makespan, in seconds, above which a plan is given
/// up.
std::optional<PlannedSeconds> plannedSeconds(const Placement& placement, const PlacementProblem& problem,
                                             double most = std::numeric_limits<double>::infinity());

} // namespace dfc
