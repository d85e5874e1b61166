// The overlap of fc2's sum, update and broadcast with fc1 backward in a measured trace, which the figure
// shows.
#pragma once

#include "ir/plan/trace.h"

namespace dfc::figure {

struct HiddenSteps {
  size_t steps = 0; ///< training steps in the trace
  size_t sums = 0;  ///< steps in which fc2's gradients are summed while a GPU computes fc1 backward
  size_t whole = 0; ///< steps in which fc2's sum, update and both copies of new weights end before it does
};

/// `trace` measured from `plan`, of figure::trainingStep.
HiddenSteps hiddenSteps(const Trace& trace, const Executable& plan);

} // namespace dfc::figure
