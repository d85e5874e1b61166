// reuseOrderings: the orderings that make the memory reuse of a simulated run safe whatever the actual
// durations.
#pragma once

#include "compiler/memory/admission_control.h"

namespace dfc {

/// A task that reuses a buffer's bytes comes after the buffer's last user on each queue. The orderings of
/// `lowPeak`, which make overwriting operands safe, are included. `times`: the run that made the reuses; it
/// respects all of them.
std::vector<TaskOrdering> reuseOrderings(llvm::ArrayRef<Reuse> reuses, const LowPeakOrder& lowPeak,
                                         const ListProblem& problem, const ListResult& times);

} // namespace dfc
