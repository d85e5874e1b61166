// machinesOfEvenLinks: the machine of a problem with links that are all equally fast, at a few speeds, and
// with memory without limits. What is found for them does not depend on how fast the links are or how much
// memory there is, so a machine with faster links or more memory starts its search from the same placements.
#pragma once

#include "compiler/place/place.h"

namespace dfc {

/// The speeds follow from the time that an average op of the graph takes on the first two devices: a further
/// device does not change them.
std::vector<Machine> machinesOfEvenLinks(const PlacementProblem& problem);

} // namespace dfc
