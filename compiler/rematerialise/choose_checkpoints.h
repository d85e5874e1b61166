// chooseCheckpoints: what a step keeps from its forward to its backward pass where almost all else is
// computed again, segment by segment (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost"). For
// steps whose excess `chooseRepeated` does not remove op by op: there, the ops that it repeats come to depend
// on one another, and all are needed again at the same time.
#pragma once

#include "compiler/rematerialise/choose_repeated.h"

namespace dfc {

/// Marks ops in `lifetimes`, evaluated, in place of those that are marked. False, with no op marked, where no
/// choice fits.
bool chooseCheckpoints(Lifetimes& lifetimes, const RepetitionProblem& problem);

} // namespace dfc
