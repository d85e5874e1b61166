// fitByRepeating: a placement whose plan fits into memory because ops are computed twice, where one is found.
#pragma once

#include "compiler/place/place.h"

#include <optional>

namespace dfc {

/// For a placement whose plan does not fit: makes it one in which ops are computed a second time
/// (`rematerialise`), with a note of that in its policy, and gives the predicted seconds of a step. Empty,
/// and the placement as it was, where that does not fit either.
std::optional<double> fitByRepeating(Placement& placement, const Machine& machine, const CostModel& cost,
                                     const LowerOptions& lowering);

} // namespace dfc
