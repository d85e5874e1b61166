// fitByRepeating: a placement whose plan fits into memory because ops are computed twice, where one is found.
#pragma once

#include "compiler/place/place.h"
#include "compiler/rematerialise/least_need.h"

#include <optional>

namespace dfc {

/// `placement`: its plan does not fit; `order`: its `stepOrder`. Computes ops of the placement a second time
/// (`rematerialise`), with a note of that in its policy, and gives the predicted seconds of the quickest step
/// that it finds. Empty, and the placement as it was, where that does not fit either, or where the makespan
/// is above `most` seconds. What does not fit is noted in `need`.
std::optional<double> fitByRepeating(Placement& placement, const StepOrder& order, const Machine& machine,
                                     const CostModel& cost, const LowerOptions& lowering, double most,
                                     LeastNeed& need);

} // namespace dfc
