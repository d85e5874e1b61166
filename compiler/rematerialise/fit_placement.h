// fitPlacement: a placement whose plan fits into memory, where one is found.
#pragma once

#include "compiler/place/place.h"

#include <optional>

namespace dfc {

/// The predicted seconds of a step of the placement's plan. Where the plan does not fit, `placement` becomes
/// one in which ops are computed a second time (`rematerialise`), with a note of that in its policy. Empty,
/// and the placement as it was, where that does not fit either.
std::optional<double> fitPlacement(Placement& placement, const Machine& machine, const CostModel& cost,
                                   const LowerOptions& lowering);

} // namespace dfc
