// minimumCut: the two devices that share the ops of a graph so that the seconds of all ops and all copies
// between the two are least in sum, as a minimum cut (Stone, "Multiprocessor scheduling with the aid of
// network flow algorithms", IEEE TSE 3(1), 1977). Its optimum is that of a machine that does one thing at a
// time: good where one device suits some ops and the other device the rest.
#pragma once

#include "compiler/place/place.h"

#include <optional>

namespace dfc {

/// Pins hold. Empty where an op without a pin runs on neither of the two.
std::optional<Placement> minimumCut(const PlacementProblem& problem, DeviceId first, DeviceId second);

} // namespace dfc
