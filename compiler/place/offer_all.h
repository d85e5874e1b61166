// offerAll: enumerates every placement of a graph of few ops. The optimum gets no slower with a faster link,
// more memory or a further device; the result of a local search may.
#pragma once

#include "compiler/place/rated_placements.h"

namespace dfc {

/// How many placements of these ops there are on the devices up to `newest`. Ops that are put where their
/// readers are do not count.
double countPlacements(llvm::ArrayRef<OpId> movable, DeviceId newest, const RatedPlacements& rated);

/// Offers every placement that uses the newest device. Branches of the enumeration in which the computing
/// time of one device alone is hopeless (RatedPlacements::isHopeless) are cut.
void offerAll(llvm::ArrayRef<OpId> movable, DeviceId newest, const PlacementProblem& problem,
              RatedPlacements& rated);

} // namespace dfc
