// offerAll: every placement of a graph of few ops. Of all placements the best is no slower where a link is
// faster, memory larger or a device added, which cannot be said of what a search finds.
#pragma once

#include "compiler/place/rated_placements.h"

namespace dfc {

/// How many placements of these ops there are on the devices up to `newest`. Ops that are put where their
/// readers are do not count.
double countPlacements(llvm::ArrayRef<OpId> movable, DeviceId newest, const RatedPlacements& rated);

/// Offers those that use the newest device. Left out are those of which some device computes longer than the
/// best takes by far.
void offerAll(llvm::ArrayRef<OpId> movable, DeviceId newest, const PlacementProblem& problem,
              RatedPlacements& rated);

} // namespace dfc
