// placeByLayers: ops beside the parameters that they read, the parameters shared out over devices in the
// order in which the graph reads them: for models whose parameters no single device holds. Parameters that
// one op reads together (a weight and its moments) stay together.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// Each device gets an equal share of the bytes of all parameters, or less where its capacity is smaller.
Placement placeByLayers(const PlacementProblem& problem, llvm::ArrayRef<DeviceId> devices);

} // namespace dfc
