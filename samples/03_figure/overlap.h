// What of fc2's sum, update and broadcast a measured trace hides behind fc1 backward: the overlap that the
// figure is about.
#pragma once

#include "ir/plan/trace.h"

namespace dfc::figure {

struct HiddenSteps {
  size_t steps = 0; ///< training steps in the trace
  size_t sums = 0;  ///< those in which fc2's gradients are summed while a GPU computes fc1 backward
  size_t whole = 0; ///< those in which fc2's sum, update and both copies of new weights end before it does
};

/// `trace` measured from `plan`, of figure::trainingStep.
HiddenSteps hiddenSteps(const Trace& trace, const Executable& plan);

} // namespace dfc::figure
